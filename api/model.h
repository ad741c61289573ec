// A model that is not tied to one shape or one NPU: what it does with inputs of a shape it was not
// compiled for, and on an NPU that its program was not compiled for.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "delegate/compile.h"
#include "host_runtime/runtime/session.h"

namespace deputy::api {

enum class ShapePolicy : std::uint8_t {
  kRefuse,     ///< an error
  kCpu,        ///< all of it on the CPU
  kRecompile,  ///< a program for what is asked
};

/// An executable file for one list of input shapes.
struct ShapedProgram {
  std::vector<Shape> shapes;
  bool on_cpu = false;  ///< compiled for the CPU by policy
  delegate::Graph graph;
  std::vector<std::uint8_t> file;
  std::string note;  ///< how it came about when not as the model stands; else empty
};

struct ModelOptions {
  delegate::CompileOptions compile;
  ShapePolicy policy = ShapePolicy::kRefuse;
  std::size_t programs = 4;  ///< kept beside the model's own; the least recently used goes first
  /// How a graph becomes an executable file; empty: delegate::compile. A cache or quirks go here.
  std::function<base::Result<std::vector<std::uint8_t>>(const delegate::Graph&,
                                                        const delegate::CompileOptions&)>
      compiler;
};

class Model {
 public:
  Model(delegate::Graph graph, ModelOptions options)
      : graph_(std::move(graph)), options_(std::move(options)) {}

  /// The program for these input shapes, compiled when there is none yet. Shapes other than the
  /// model's own go by the policy. kInput: refused by policy, or no shapes of this model;
  /// kUnsupported: an operator cannot follow.
  base::Result<std::shared_ptr<const ShapedProgram>> program(const std::vector<Shape>& shapes);

  /// A session for these shapes on the device's NPU. When the NPU is not what the program was
  /// compiled for, by policy: the loader's error, a CPU program, or one for the NPU that the CONFIG
  /// registers describe. `note` gets what was done, empty when nothing was. Errors besides:
  /// Session::load's and program()'s. `device` must outlive the session.
  base::Result<std::unique_ptr<host_runtime::Session>> load(host_runtime::Device& device,
                                                            const std::vector<Shape>& shapes,
                                                            std::string* note);

  const delegate::Graph& graph() const { return graph_; }
  std::size_t compiles() const { return compiles_; }  ///< since it was made

 private:
  base::Result<std::shared_ptr<const ShapedProgram>> make(const std::vector<Shape>& shapes,
                                                          bool on_cpu, std::string note);

  delegate::Graph graph_;
  ModelOptions options_;
  std::list<std::shared_ptr<const ShapedProgram>> programs_;  ///< most recently used first
  std::size_t compiles_ = 0;
};

}  // namespace deputy::api
