// An operator's option table, read into arch::OpAttrs.
#pragma once

#include <string>

#include "arch/ops.h"
#include "base/result.h"

namespace deputy::delegate {

namespace tflite {
struct Operator;
}

/// Reads the options of a verified operator. Pads are left for resolve_padding() (they need
/// shapes); axes stay as written. Errors: kModel for a table of another operator or a value outside
/// its enum, kUnsupported for options that no kernel of ours has. `where` names the file and
/// operator.
base::Result<arch::OpAttrs> read_options(const tflite::Operator& op, arch::OpKind kind,
                                         const std::string& where);

}  // namespace deputy::delegate
