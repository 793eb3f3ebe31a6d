// Splits work over the threads of whoever runs a kernel: ONNX Runtime's pool, a test's own, or none.
#ifndef RLC_KERNELS_PARALLEL_H_
#define RLC_KERNELS_PARALLEL_H_

#include <cstddef>
#include <functional>
#include <utility>

namespace rlc {

class Parallel {
 public:
  using Task = std::function<void(size_t index)>;
  // Calls task(0) ... task(count - 1), in any order, perhaps several at once; returns when all have returned. Tasks do
  // not throw.
  using Run = std::function<void(size_t count, const Task& task)>;

  Parallel() = default;  // one thread: the caller's
  Parallel(int threads, Run run) : threads_(threads), run_(std::move(run)) {}

  int threads() const { return threads_; }  // that may work at once, at least 1

  void For(size_t count, const Task& task) const {
    if (count > 1 && threads_ > 1) return run_(count, task);
    for (size_t i = 0; i < count; ++i) task(i);
  }

 private:
  int threads_ = 1;
  Run run_;
};

}  // namespace rlc

#endif  // RLC_KERNELS_PARALLEL_H_
