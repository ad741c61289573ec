// Reading one operation of assembly text.
#pragma once

#include <map>
#include <string>

#include "arch/dsp_packet.h"
#include "dsp_asm/text.h"

namespace deputy::dsp_asm {

/// Other names of registers (.reg): name -> "v3".
using Aliases = std::map<std::string, std::string, std::less<>>;

struct Parsed {
  arch::DspOp op;
  std::string target;        ///< label of a branch or loop; empty when there is none
  std::size_t position = 0;  ///< in the line, where the operation begins
};

/// Reads "(m0) vadd.h v1, v2, v3". Leaves the cursor behind it. A target given as a number is not
/// allowed: targets are labels.
base::Result<Parsed> parse_operation(Cursor& cursor, const Symbols& symbols,
                                     const Aliases& aliases);

/// Reads a register of the given file ('r', 'v', 'a', 'm').
base::Result<int> parse_register(Cursor& cursor, char file, const Aliases& aliases);

}  // namespace deputy::dsp_asm
