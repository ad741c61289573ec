// Which driver this is. Quirk files name ranges of it and compiled programs are cached by it: raise
// it with every change of a driver that a program or a quirk could see.
#pragma once

namespace deputy::host_runtime {
inline constexpr const char* kDriverVersion = "1.0";
}  // namespace deputy::host_runtime
