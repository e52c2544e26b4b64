# The two commands of the README (demo, test) and the steps behind them.
.PHONY: build test demo deps lint format clean

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

format:
	git ls-files '*.cc' '*.h' | xargs clang-format -i

clean:
	rm -rf build
