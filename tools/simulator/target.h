// From a SoC's file to what the compiler needs to know of it.
#pragma once

#include <string>
#include <vector>

#include "api/compile_key.h"
#include "base/result.h"
#include "delegate/compile.h"
#include "deputy/model.h"
#include "soc/soc_config.h"

namespace deputy::tools {

/// Whether a configuration is named by its path, not as one of configs: it has a '/' or ends in
/// .yaml or .yml.
bool is_config_path(const std::string& name);

/// A path as given, or NAME -> configs/KIND/NAME.yaml below the working folder or the source tree.
/// kIo.
base::Result<std::string> find_config(const std::string& kind, const std::string& name);
inline base::Result<std::string> find_soc(const std::string& name) {
  return find_config("soc", name);
}

/// The compiler's options that follow from a SoC; everything else at its default.
delegate::CompileOptions soc_compile_options(const soc::SocConfig& soc);

/// The hardware and driver that the SoC has.
base::Result<api::DeviceIdentity> soc_identity(const soc::SocConfig& soc);

/// The same as the public API's handle.
base::Result<Target> make_target(const soc::SocConfig& soc);

}  // namespace deputy::tools
