/// What the C and C++ libraries of Debian 12 have under a newer version than manylinux_2_34 allows, called by
/// the version that every one since has (CMakeLists.txt: --wrap). The functions behind both versions are the
/// same.
#include <condition_variable>
#include <mutex>

#if defined(__x86_64__) && defined(__GLIBC__)

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
double subspectra_hypot(double x, double y);
__asm__(".symver subspectra_hypot,hypot@GLIBC_2.2.5");
double __wrap_hypot(double x, double y) { return subspectra_hypot(x, y); }

void subspectra_wait(std::condition_variable* condition, std::unique_lock<std::mutex>* lock);
__asm__(".symver subspectra_wait,_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(std::condition_variable* condition,
                                                                      std::unique_lock<std::mutex>* lock) {
  subspectra_wait(condition, lock);
}
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

#endif
