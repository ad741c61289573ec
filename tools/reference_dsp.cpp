// The pages about the DSP: its instruction set, and its kernels with the cycles they take.
#include <fmt/format.h>

#include "arch/bitpack.h"
#include "arch/dsp_isa.h"
#include "base/check.h"
#include "tools/dsp_run.h"
#include "tools/reference.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

constexpr const char* kSlotTitles[] = {"S: scalar and control", "A: vector ALU",
                                       "M: multiply-accumulate", "L: load and store"};
constexpr const char* kFormatNames[] = {"none", "R3",    "R3P", "R4",     "RI",
                                        "I16",  "R3I",   "VI",  "branch", "jump",
                                        "loop", "loopi", "mem", "memp",   "control"};

// "rD, [A], vB" as a reader sees it.
std::string operands_text(const arch::DspOpInfo& info) {
  std::string out;
  for (const arch::DspOperand& operand : info.operands) {
    if (!operand.file) break;
    out += out.empty() ? "" : ", ";
    if (operand.file == '[')
      out += "[rA]";
    else if (operand.file == '#' || operand.file == '@')
      out += operand.file == '@' ? "label" : std::string(1, operand.field);
    else
      out += fmt::format("{}{}", operand.file == 'V' ? "v" : std::string(1, operand.file),
                         operand.field);
    if (operand.file == 'V') out += " (pair)";
  }
  return out;
}

std::string format_rows() {
  std::string out;
  for (int f = 0; f < arch::kDspFormats; ++f) {
    std::string text;
    int bit = 0;
    arch::with_dsp_format(static_cast<arch::DspFormat>(f), [&](auto format) {
      arch::DspOp op;
      arch::dsp_fields<format()>(op, [&](const auto&, const base::Field& field) {
        text += fmt::format("{}{} {}:{}", text.empty() ? "" : ", ", field.name,
                            bit + field.bits - 1, bit);
        bit += field.bits;
      });
      return 0;
    });
    out += markdown_row({kFormatNames[f], text});
  }
  return out;
}

}  // namespace

std::string dsp_instructions_page() {
  std::string out = fmt::format("# DSP instruction set, version {}\n\n", arch::kDspIsaVersion);
  out +=
      "What packets, registers and addresses are is in [docs/dsp.md](../dsp.md). `D`, `A`, `B`, "
      "`C` and `I` are the operands. "
      "Formats R3P, VI and memp take a predicate.\n\n## Formats\n\n" +
      markdown_head({"format", "bits of the word"}) + format_rows();
  for (int slot = 0; slot < arch::kDspSlots; ++slot) {
    out += fmt::format("\n## {}\n\n", kSlotTitles[slot]) +
           markdown_head({"operation", "operands", "number", "format", "meaning"});
    for (const auto& row : arch::dsp_op_infos())
      if (static_cast<int>(row.slot) == slot)
        out += markdown_row({row.name, operands_text(row), std::to_string(row.opcode),
                             kFormatNames[static_cast<int>(row.format)], row.doc});
  }
  out += "\n## Control registers\n\n" + markdown_head({"register", "number", "access", "meaning"});
  for (std::size_t i = 0; i < arch::dsp_controls().size(); ++i) {
    const auto& row = arch::dsp_controls()[i];
    out += markdown_row({row.name, std::to_string(i), row.access, row.doc});
  }
  return out;
}

Table list_dsp_instructions() {
  Table table({"operation", "slot", "operands", "what"});
  for (const auto& row : arch::dsp_op_infos())
    table.row({row.name, std::string(1, arch::kDspSlotNames[static_cast<std::size_t>(row.slot)]),
               operands_text(row), row.doc});
  return table;
}

std::string dsp_kernels_page() {
  std::string out =
      "# DSP kernels\n\nEach kernel of `dsp_kernels/asm` on the model alone, default "
      "configuration, data in the data memory, set-up and "
      "`halt` included; every row's results are those of its plain reference. The bound is the "
      "number of operations that the method needs "
      "in its busiest slot, or where said the latency of its recurrence: no program of this method "
      "takes fewer cycles on this core.\n\n";
  out += markdown_head({"kernel", "case", "cycles", "per", "cycles each", "bound", "cycles / bound",
                        "bound by", "packets", "S", "A", "M", "L", "stalls"});
  for (const auto& c : dsp_kernels::kernel_cases(1, dsp_kernels::Fill::kRandom)) {
    const auto run = run_kernel_case(arch::DspConfig{}, c);
    DEPUTY_CHECK(run.ok(), run.ok() ? "" : run.error().text().c_str());
    const auto& s = run->stats;
    const double cycles = static_cast<double>(s.cycles);
    out += markdown_row(
        {c.kernel, c.what, std::to_string(s.cycles), c.unit,
         fmt::format("{:.3f}", cycles / static_cast<double>(c.outputs)),
         c.bound ? std::to_string(c.bound) : "-",
         c.bound ? fmt::format("{:.2f}", cycles / static_cast<double>(c.bound)) : "-",
         c.bound_by.empty() ? "-" : c.bound_by, std::to_string(s.packets),
         std::to_string(s.slots[0]), std::to_string(s.slots[1]), std::to_string(s.slots[2]),
         std::to_string(s.slots[3]), std::to_string(s.cycles - s.packets)});
  }
  return out;
}

}  // namespace deputy::tools
