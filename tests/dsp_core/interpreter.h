// A second DSP: the instruction set written out as plainly as possible from its table's meanings,
// lane by lane in 64-bit integers, with no thought of speed or time. Shares nothing with the model
// but the decoder.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "arch/dsp_packet.h"

namespace deputy::dsp_test {

struct Interpreter {
  std::uint32_t r[32] = {};
  std::uint8_t v[32][128] = {};
  std::uint8_t a[4][256] = {};
  bool m[4][128] = {};
  std::uint32_t control[32] = {};
  struct Loop {
    bool active = false;
    std::int64_t start = 0, end = 0, left = 0;
  } loops[4];
  std::vector<std::uint8_t> tcm;
  std::vector<std::uint32_t> program;
  std::deque<std::uint32_t> mail_in, mail_out;
  std::int64_t pc = 0;
  bool halted = false;
  arch::DspFault fault = arch::DspFault::kNone;
  std::uint64_t packets = 0;

  /// Until halted, faulted or `most` packets are done.
  void run(std::uint64_t most);

 private:
  using Write = std::function<void()>;
  struct Fault {
    arch::DspFault fault;
  };
  void step();
  void operation(const arch::DspOp& op, std::int64_t after, std::vector<Write>& writes,
                 std::int64_t& next);
  void scalar(const std::string& name, const arch::DspOp& op, std::int64_t after,
              std::vector<Write>& writes, std::int64_t& next);
  void vector(const std::string& name, int size, const arch::DspOp& op, std::vector<Write>& writes);
  void multiply(const std::string& name, int size, const arch::DspOp& op,
                std::vector<Write>& writes);
  void memory(const std::string& name, const arch::DspOp& op, std::vector<Write>& writes);

  std::int64_t lane(const std::uint8_t* bytes, int size, int i, bool is_signed = true) const;
  void write_r(int d, std::int64_t value, std::vector<Write>& writes);
  void write_v(const arch::DspOp& op, int d, int size, const std::vector<std::int64_t>& lanes,
               std::vector<Write>& writes);
  bool chosen(const arch::DspOp& op, int byte) const;
};

}  // namespace deputy::dsp_test
