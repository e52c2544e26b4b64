# The two commands of the README (demo, test) and the steps behind them.
.PHONY: build test demo bench deps lint format clean

build: deps
	cmake --preset release
	cmake --build --preset release

deps:
	tools/install-deps

test: deps
	tools/test

lint:
	tools/lint.py

demo: build
	tools/demo

# Placement beside std::lower_bound and libmemcached, in one run: docs/placement-performance.md.
bench: deps
	cmake --preset release -DSLIPRING_BENCH=ON
	cmake --build --preset release --target placement_compare_bench
	build/release/bench/placement/placement_compare_bench

format:
	git ls-files '*.cc' '*.h' | xargs clang-format -i

clean:
	rm -rf build
