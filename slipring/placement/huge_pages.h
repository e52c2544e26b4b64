// An allocator for look-up tables: large ones are aligned to and asked to lie in huge pages, because on a virtual
// machine a miss of the address cache costs more than the miss of the data. Small ones are ordinary memory.
// Thread-safety: as operator new.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace slipring {

template <typename T>
struct HugePages {
  using value_type = T;
  static constexpr size_t kPageBytes = size_t{2} << 20;
  static constexpr size_t kFromBytes = size_t{512} << 10;

  HugePages() = default;
  template <typename U>
  HugePages(const HugePages<U>&) {}

  T* allocate(size_t n) {
    const size_t bytes = n * sizeof(T);
    if (bytes < kFromBytes) return static_cast<T*>(::operator new(bytes));
    const size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    void* p = std::aligned_alloc(kPageBytes, rounded);
    if (p == nullptr) throw std::bad_alloc();
    madvise(p, rounded, MADV_HUGEPAGE);  // a wish: without it the table is only slower
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t n) {
    if (n * sizeof(T) < kFromBytes) {
      ::operator delete(p);
    } else {
      std::free(p);
    }
  }
  bool operator==(const HugePages&) const { return true; }
};

}  // namespace slipring
