// The order in which Erlang's lists:sort/2 leaves a list when it is given "less than" where it asks for "not greater":
// equal elements end up in an order that depends on the algorithm, a merge sort over natural runs. Systems written so
// (ex_hash_ring) let that order decide who owns a shared point.
// Thread-safety: pure functions.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace slipring {
namespace erlang_sort_internal {

template <typename T>
using Run = std::vector<T>;  // ascending

// Cuts the input into ascending runs, the latest first. The two greatest elements of the open run stand apart; one
// element that fits nowhere is kept aside, a second one opens the next run.
template <typename T, typename Less>
class RunSplitter {
 public:
  RunSplitter(T second, T greatest, Less less)
      : second_(std::move(second)), greatest_(std::move(greatest)), less_(less) {}

  void add(T z) {
    if (less_(greatest_, z)) {
      below_.push_back(std::exchange(second_, std::exchange(greatest_, std::move(z))));
    } else if (less_(second_, z)) {
      below_.push_back(std::exchange(second_, std::move(z)));
    } else if (!aside_ && below_.empty()) {
      below_.push_back(std::move(z));
    } else if (!aside_) {
      aside_ = std::move(z);
    } else {
      open_next(std::move(z));
    }
  }

  std::vector<Run<T>> finish() && {
    close();
    if (aside_) closed_.push_back({std::move(*aside_)});
    std::reverse(closed_.begin(), closed_.end());
    return std::move(closed_);
  }

  void add_closed(Run<T> run) { closed_.push_back(std::move(run)); }

 private:
  void close() {
    below_.push_back(std::move(second_));
    below_.push_back(std::move(greatest_));
    closed_.push_back(std::exchange(below_, {}));
  }

  void open_next(T z) {
    close();
    const bool rises = less_(*aside_, z);
    second_ = rises ? std::move(*aside_) : z;
    greatest_ = rises ? z : std::move(*aside_);
    aside_.reset();
  }

  T second_;
  T greatest_;
  Less less_;
  Run<T> below_;
  std::optional<T> aside_;
  std::vector<Run<T>> closed_;  // the latest last
};

template <typename T, typename Less>
std::vector<Run<T>> split(std::vector<T> items, Less less) {
  // A list that falls at its beginning is one run as long as it does.
  size_t at = 1;
  while (at < items.size() && !less(items[at - 1], items[at])) ++at;
  const auto end_of_fall = items.begin() + static_cast<std::ptrdiff_t>(at);
  if (at == items.size()) return {Run<T>(items.rbegin(), items.rend())};
  RunSplitter<T, Less> splitter(items[at - 1], items[at], less);
  if (at > 1) splitter.add_closed(Run<T>(std::make_reverse_iterator(end_of_fall - 1), items.rend()));
  for (size_t i = at + 1; i < items.size(); ++i) splitter.add(std::move(items[i]));
  return std::move(splitter).finish();
}

// From the front: an element of `a` goes first only if it is less.
template <typename T, typename Less>
Run<T> merge_up(const Run<T>& a, const Run<T>& b, Less less) {
  Run<T> out;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) out.push_back(less(*x, *y) ? *x++ : *y++);
  out.insert(out.end(), x, a.end());
  out.insert(out.end(), y, b.end());
  return out;
}

// From the back: an element of `b` goes last only if that of `a` is less.
template <typename T, typename Less>
Run<T> merge_down(const Run<T>& a, const Run<T>& b, Less less) {
  Run<T> out;
  auto x = a.rbegin();
  auto y = b.rbegin();
  while (x != a.rend() && y != b.rend()) out.push_back(less(*x, *y) ? *y++ : *x++);
  out.insert(out.end(), x, a.rend());
  out.insert(out.end(), y, b.rend());
  std::reverse(out.begin(), out.end());
  return out;
}

// Merges neighbours; the list of runs turns round in every pass, and so does the direction of the merge.
template <typename T, typename Less>
std::vector<Run<T>> merge_pass(std::vector<Run<T>> runs, bool down, Less less) {
  std::vector<Run<T>> merged;
  size_t i = 0;
  for (; i + 1 < runs.size(); i += 2) {
    merged.push_back(down ? merge_down(runs[i + 1], runs[i], less) : merge_up(runs[i], runs[i + 1], less));
  }
  if (i < runs.size()) merged.push_back(std::move(runs[i]));
  std::reverse(merged.begin(), merged.end());
  return merged;
}

}  // namespace erlang_sort_internal

// Cost: O(n log n).
template <typename T, typename Less>
std::vector<T> erlang_sort(std::vector<T> items, Less less) {
  if (items.size() < 2) return items;
  auto runs = erlang_sort_internal::split(std::move(items), less);
  for (bool down = true; runs.size() > 1; down = !down) {
    runs = erlang_sort_internal::merge_pass(std::move(runs), down, less);
  }
  return std::move(runs.front());
}

}  // namespace slipring
