// How much work an operator is for the host CPU, and how many cycles work takes: the simulated host
// is charged by these formulas and the compiler places operators with them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/host_config.h"
#include "arch/ops.h"
#include "base/cpu_kernel.h"

namespace deputy::arch {

struct HostWork {
  CpuKernel kernel = CpuKernel::kElementwise;
  std::uint64_t amount = 0;
};

/// What an operator is for the CPU, from shapes and types alone (data may be null). Operands in
/// TFLite order.
std::vector<HostWork> host_work(OpKind kind, const OpAttrs& attrs,
                                std::span<const TensorView> inputs,
                                std::span<const TensorView> outputs);

/// Host cycles of `amount` units of work, rounded up. The bytes that it moves pass beside it: the
/// slower of the two counts.
std::uint64_t host_cycles(const HostConfig& host, CpuKernel kernel, std::uint64_t amount);

/// Host cycles of one cache maintenance call over [address, address + bytes); 0 for no bytes.
std::uint64_t maintenance_cycles(const HostConfig& host, std::uint64_t address,
                                 std::uint64_t bytes);
std::uint64_t maintained_lines(const HostConfig& host, std::uint64_t address, std::uint64_t bytes);

/// Host cycles from a finished job's interrupt to the thread that waits for it.
std::uint64_t interrupt_cycles(const HostConfig& host);

/// Register accesses of the driver for one job that succeeds: the doorbell; the interrupt's cause
/// read and acknowledged at the queue manager and at the controller, and looked at again; HEAD
/// read.
inline constexpr std::uint64_t kLaunchRegisterAccesses = 6;

/// Host cycles to write a ring entry of `bytes` at a line's beginning and to clean it out of the
/// cache.
std::uint64_t launch_cycles(const HostConfig& host, std::uint64_t bytes);

}  // namespace deputy::arch
