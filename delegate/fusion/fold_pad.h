// An explicit PAD in front of a window operator as the window's own padding.
#pragma once

#include <optional>
#include <string>

#include "delegate/codegen/window.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Changes `shape` of the window operator `main` to read the PAD's input. Returns why it is not
/// exact, or nullopt when done.
std::optional<std::string> fold_pad(const Graph& graph, const Op& pad, const Op& main,
                                    WindowShape& shape);

/// The window that a kernel computes: its main operator's, with the PAD folded in. nullopt when the
/// main operator is no window.
std::optional<WindowShape> kernel_window(const Graph& graph, const Kernel& kernel);

}  // namespace deputy::delegate
