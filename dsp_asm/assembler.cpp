#include "dsp_asm/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "arch/byte_io.h"
#include "dsp_asm/operations.h"
#include "dsp_asm/scheduler.h"

namespace deputy::dsp_asm {
namespace {

using arch::DspOp, arch::DspOpcode;

constexpr std::size_t kMostStatements = 200000;
constexpr int kMostNesting = 40;
constexpr const char* kTooMuch = "the program grows without end";

struct Item {
  Parsed parsed;
  Line line;  ///< where it came from, for errors that show later
};
using Items = std::vector<Item>;

struct Macro {
  std::vector<std::string> arguments;
  std::vector<Line> body;
};

bool branches(const DspOp& op) {
  const auto& info = arch::dsp_op_info(op.code);
  return info.latency == arch::DspLatency::kControl && op.code != DspOpcode::kSMtc;
}

// What opens a block of lines, and what closes it.
struct BlockName {
  std::string_view begin, end;
};
constexpr BlockName kBlocks[] = {{".rep", ".endrep"}, {".macro", ".endm"}, {".if", ".endif"}};

class Assembler {
 public:
  Assembler(const std::string& file, const Options& options) : file_(file), options_(options) {}

  base::Result<Program> run(std::string_view text) {
    std::vector<Line> lines;
    int number = 0;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      Line line;
      line.number = ++number;
      for (std::size_t i = at; i < end && text[i] != ';'; ++i)
        line.text += text[i], line.columns.push_back(static_cast<int>(i - at) + 1);
      line.columns.push_back(static_cast<int>(line.text.size()) + 1);
      lines.push_back(std::move(line));
      at = end + 1;
    }
    DEPUTY_TRY(block(lines));
    if (scheduling_) return Cursor(schedule_line_, file_).error(".sched without .endsched");
    for (const auto& [name, value] : options_.parameters)
      if (!taken_.count(name))
        return base::Error{base::ErrorKind::kInput, file_,
                           fmt::format("there is no parameter '{}'", name),
                           "parameters are what .param names"};
    return link();
  }

 private:
  base::Status block(const std::vector<Line>& lines) {
    if (lines.empty()) return {};
    if (++depth_ > kMostNesting)
      return Cursor(lines.front(), file_).error("blocks and macros are nested too deeply");
    for (std::size_t next = 0; next < lines.size();) DEPUTY_TRY(statement(lines, next));
    --depth_;
    return {};
  }

  // One line, or one block with its body.
  base::Status statement(const std::vector<Line>& lines, std::size_t& next) {
    if (++statements_ > kMostStatements) return Cursor(lines[next], file_).error(kTooMuch);
    Cursor raw(lines[next], file_);
    const std::string word = raw.name();
    if (word == ".macro") return define_macro(lines, next);
    DEPUTY_ASSIGN(const Line line, substitute(lines[next], file_, symbols_));
    Cursor cursor(line, file_);
    if (cursor.at_end()) {
      ++next;
      return {};
    }
    const std::size_t start = cursor.position();
    const std::string name = cursor.name();
    if (name == ".rep") return repeat(lines, next, cursor);
    if (name == ".if") return choose(lines, next, cursor);
    ++next;
    if (!name.empty() && cursor.accept(":")) {
      DEPUTY_TRY(label(cursor, start, name));
      if (cursor.at_end()) return {};
      return line_of_code(line, cursor);
    }
    if (const auto macro = macros_.find(name); macro != macros_.end())
      return use_macro(macro->second, cursor);
    if (name == "li") return load_immediate(line, cursor, start);
    if (!name.empty() && name[0] == '.') return directive(name, line, cursor, start);
    cursor.move_to(start);
    return line_of_code(line, cursor);
  }

  base::Status label(const Cursor& cursor, std::size_t at, const std::string& name) {
    if (scheduling_) return cursor.error_at(at, "a label within .sched", "end the block before it");
    if (!labels_.insert({name, packets_.size()}).second)
      return cursor.error_at(at, fmt::format("'{}' is defined twice", name));
    return {};
  }

  base::Status line_of_code(const Line& line, Cursor& cursor) {
    Items packet;
    do {
      DEPUTY_ASSIGN(auto parsed, parse_operation(cursor, symbols_, aliases_));
      packet.push_back({std::move(parsed), line});
    } while (cursor.accept("||"));
    DEPUTY_TRY(cursor.expect_end());
    return add(std::move(packet));
  }

  base::Status add(Items packet) {
    if (scheduling_) {
      for (auto& item : packet) {
        if (branches(item.parsed.op))
          return Cursor(item.line, file_)
              .error_at(item.parsed.position, "control flow within .sched",
                        "end the block before it");
        scheduled_.push_back(std::move(item));
      }
      return {};
    }
    std::sort(packet.begin(), packet.end(),
              [](const Item& a, const Item& b) { return a.parsed.op.slot < b.parsed.op.slot; });
    arch::DspPacket check;
    for (const Item& item : packet) {
      if (check.count && check.ops[check.count - 1u].slot == item.parsed.op.slot)
        return Cursor(item.line, file_)
            .error_at(item.parsed.position,
                      fmt::format("a second operation in slot {}",
                                  arch::kDspSlotNames[item.parsed.op.slot]),
                      "put it into a packet of its own");
      check.ops[check.count++] = item.parsed.op;
    }
    if (const auto fault = arch::check_dsp_packet(check); fault != arch::DspDecodeFault::kNone)
      return Cursor(packet.back().line, file_)
          .error_at(packet.back().parsed.position, std::string(arch::dsp_decode_fault_text(fault)));
    packets_.push_back(std::move(packet));
    return {};
  }

  // li rD, value: any 32-bit word, in one or two packets.
  base::Status load_immediate(const Line& line, Cursor& cursor, std::size_t start) {
    DEPUTY_ASSIGN(const int d, parse_register(cursor, 'r', aliases_));
    DEPUTY_TRY(cursor.expect(","));
    cursor.skip_blanks();
    const std::size_t at = cursor.position();
    DEPUTY_ASSIGN(const std::int64_t value, cursor.expression(symbols_));
    DEPUTY_TRY(cursor.expect_end());
    if (value < INT32_MIN || value > std::int64_t{UINT32_MAX})
      return cursor.error_at(at, fmt::format("{} does not fit", value), "a word: -2^31 to 2^32-1");
    const auto word = static_cast<std::uint32_t>(value);
    const auto make = [&](DspOpcode code, std::uint32_t half) {
      Item item{{arch::make_dsp_op(code), "", start}, line};
      item.parsed.op.d = static_cast<std::uint8_t>(d),
      item.parsed.op.imm = static_cast<std::int16_t>(half);
      return item;
    };
    DEPUTY_TRY(add({make(DspOpcode::kSMovi, word & 0xFFFF)}));
    const auto low =
        static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(word & 0xFFFF)});
    if (low != word) DEPUTY_TRY(add({make(DspOpcode::kSMovhi, word >> 16)}));
    return {};
  }

  base::Status directive(const std::string& name, const Line& line, Cursor& cursor,
                         std::size_t start) {
    if (name == ".equ" || name == ".param") {
      cursor.skip_blanks();
      const std::size_t at = cursor.position();
      const std::string symbol = cursor.name();
      if (symbol.empty()) return cursor.error("a name expected");
      cursor.accept(",");
      DEPUTY_ASSIGN(std::int64_t value, cursor.expression(symbols_));
      DEPUTY_TRY(cursor.expect_end());
      if (name == ".param") {
        if (!taken_.insert(symbol).second)
          return cursor.error_at(at, fmt::format("parameter '{}' is named twice", symbol));
        if (const auto given = options_.parameters.find(symbol); given != options_.parameters.end())
          value = given->second;
      }
      symbols_.insert_or_assign(symbol, value);
      return {};
    }
    if (name == ".reg") {
      const std::string alias = cursor.name();
      if (alias.empty()) return cursor.error("a name expected");
      cursor.accept(",");
      cursor.skip_blanks();
      const std::size_t at = cursor.position();
      const std::string target = cursor.name();
      cursor.move_to(at);
      if (target.empty() || std::string_view("rvam").find(target[0]) == std::string_view::npos)
        return cursor.error_at(at, "a register expected");
      DEPUTY_ASSIGN(const int number, parse_register(cursor, target[0], {}));
      DEPUTY_TRY(cursor.expect_end());
      aliases_.insert_or_assign(alias, fmt::format("{}{}", target[0], number));
      return {};
    }
    if (name == ".require") {
      cursor.skip_blanks();
      const std::size_t at = cursor.position();
      DEPUTY_ASSIGN(const std::int64_t value, cursor.expression(symbols_));
      DEPUTY_TRY(cursor.expect_end());
      if (!value)
        return cursor.error_at(at, fmt::format("the program requires {}", line.text.substr(at)),
                               "give other parameters");
      return {};
    }
    if (name == ".sched") {
      if (scheduling_) return cursor.error_at(start, ".sched within .sched");
      no_alias_ = cursor.name() == "noalias";
      DEPUTY_TRY(cursor.expect_end());
      scheduling_ = true, schedule_line_ = line;
      return {};
    }
    if (name == ".endsched") {
      if (!scheduling_) return cursor.error_at(start, ".endsched without .sched");
      DEPUTY_TRY(cursor.expect_end());
      return end_schedule();
    }
    return cursor.error_at(
        start, fmt::format("there is no directive '{}'", name),
        "directives: .equ .param .reg .require .rep .macro .if .sched and their ends");
  }

  base::Status end_schedule() {
    scheduling_ = false;
    std::vector<DspOp> ops;
    for (const Item& item : scheduled_) ops.push_back(item.parsed.op);
    for (const auto& packet : schedule(ops, options_.latency, no_alias_)) {
      Items items;
      for (const Scheduled& s : packet) items.push_back(scheduled_[s.source]);
      packets_.push_back(std::move(items));
    }
    scheduled_.clear();
    return {};
  }

  // lines[next] opens a block: returns its body and moves `next` behind its end. `other` gets what
  // follows .else, when given.
  base::Result<std::vector<Line>> body(const std::vector<Line>& lines, std::size_t& next,
                                       std::vector<Line>* other = nullptr) {
    const std::size_t open = next++;
    std::vector<std::string_view> ends;
    const auto opened = [&](const std::string& word) {
      for (const BlockName& b : kBlocks)
        if (word == b.begin) return b.end;
      return std::string_view{};
    };
    ends.push_back(opened(Cursor(lines[open], file_).name()));
    std::vector<Line> out;
    std::vector<Line>* into = &out;
    for (; next < lines.size(); ++next) {
      const std::string word = Cursor(lines[next], file_).name();
      if (word == ends.back()) {
        ends.pop_back();
        if (ends.empty()) {
          ++next;
          return out;
        }
      } else if (const std::string_view end = opened(word); !end.empty()) {
        ends.push_back(end);
      } else if (word == ".else" && other && ends.size() == 1) {
        into = other;
        continue;
      }
      into->push_back(lines[next]);
    }
    return Cursor(lines[open], file_).error(fmt::format("no {} for this", ends.back()));
  }

  base::Status repeat(const std::vector<Line>& lines, std::size_t& next, Cursor& cursor) {
    DEPUTY_ASSIGN(const std::int64_t count, cursor.expression(symbols_));
    std::string variable;
    if (cursor.accept(",")) variable = cursor.name();
    DEPUTY_TRY(cursor.expect_end());
    if (count < 0 || count > 100000)
      return cursor.error(fmt::format("{} times", count), "0 to 100000");
    const std::size_t open = next;
    DEPUTY_ASSIGN(const auto lines_of_body, body(lines, next));
    for (std::int64_t i = 0; i < count; ++i) {
      // An empty body repeated costs time, too; the lines of another count themselves.
      if (lines_of_body.empty() && ++statements_ > kMostStatements)
        return Cursor(lines[open], file_).error(kTooMuch);
      if (!variable.empty()) symbols_.insert_or_assign(variable, i);
      DEPUTY_TRY(block(lines_of_body));
    }
    return {};
  }

  base::Status choose(const std::vector<Line>& lines, std::size_t& next, Cursor& cursor) {
    DEPUTY_ASSIGN(const std::int64_t value, cursor.expression(symbols_));
    DEPUTY_TRY(cursor.expect_end());
    std::vector<Line> otherwise;
    DEPUTY_ASSIGN(const auto then, body(lines, next, &otherwise));
    const auto& chosen = value ? then : otherwise;
    return block(chosen);
  }

  base::Status define_macro(const std::vector<Line>& lines, std::size_t& next) {
    Cursor cursor(lines[next], file_);
    cursor.name();
    cursor.skip_blanks();
    const std::size_t at = cursor.position();
    const std::string name = cursor.name();
    if (name.empty() || name[0] == '.' || arch::find_dsp_op(name))
      return cursor.error_at(at, "a name of its own expected");
    Macro macro;
    while (!cursor.at_end()) {
      if (!macro.arguments.empty()) DEPUTY_TRY(cursor.expect(","));
      macro.arguments.push_back(cursor.name());
      if (macro.arguments.back().empty()) return cursor.error("a name expected");
    }
    DEPUTY_ASSIGN(macro.body, body(lines, next));
    macros_.insert_or_assign(name, std::move(macro));
    return {};
  }

  // Arguments are replaced as whole names by their texts.
  base::Status use_macro(const Macro& macro, Cursor& cursor) {
    std::map<std::string, std::string, std::less<>> values;
    std::string text(cursor.rest());
    std::vector<std::string> given;
    int nesting = 0;
    std::string part;
    for (const char c : text) {
      if (c == '[' || c == '(') ++nesting;
      if (c == ']' || c == ')') --nesting;
      if (c == ',' && nesting == 0)
        given.push_back(part), part.clear();
      else
        part += c;
    }
    if (!cursor.at_end()) given.push_back(part);
    if (given.size() != macro.arguments.size())
      return cursor.error(
          fmt::format("{} arguments given, {} expected", given.size(), macro.arguments.size()));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::size_t first = given[i].find_first_not_of(" \t\r"),
                        last = given[i].find_last_not_of(" \t\r");
      values[macro.arguments[i]] =
          first == std::string::npos ? "" : given[i].substr(first, last - first + 1);
    }
    std::vector<Line> lines;
    for (const Line& from : macro.body) {
      Line to;
      to.number = from.number;
      Cursor names(from, file_);
      for (std::size_t i = 0; i < from.text.size();) {
        names.move_to(i);
        const bool blank = from.text[i] == ' ' || from.text[i] == '\t';
        const std::string name = blank ? "" : names.name();
        const auto value = name.empty() ? values.end() : values.find(name);
        const std::size_t end = name.empty() ? i + 1 : names.position();
        const std::string replaced =
            value == values.end() ? from.text.substr(i, end - i) : value->second;
        for (std::size_t k = 0; k < replaced.size(); ++k)
          to.text += replaced[k],
              to.columns.push_back(from.columns[value == values.end() ? i + k : i]);
        i = end;
      }
      to.columns.push_back(from.columns.back());
      lines.push_back(std::move(to));
    }
    return block(lines);
  }

  base::Result<Program> link() {
    Program out;
    std::vector<std::size_t> at(packets_.size() + 1, 0);
    for (std::size_t p = 0; p < packets_.size(); ++p) at[p + 1] = at[p] + packets_[p].size();
    for (const auto& [name, packet] : labels_)
      out.labels[name] = static_cast<std::uint32_t>(at[packet]);
    for (std::size_t p = 0; p < packets_.size(); ++p)
      for (std::size_t i = 0; i < packets_[p].size(); ++i) {
        Item& item = packets_[p][i];
        DspOp& op = item.parsed.op;
        const Cursor cursor(item.line, file_);
        if (!item.parsed.target.empty()) {
          const auto label = labels_.find(item.parsed.target);
          if (label == labels_.end())
            return cursor.error_at(item.parsed.position,
                                   fmt::format("there is no label '{}'", item.parsed.target));
          op.imm = static_cast<std::int32_t>(static_cast<std::int64_t>(at[label->second]) -
                                             static_cast<std::int64_t>(at[p]));
          if (arch::check_dsp_op(op) != arch::DspDecodeFault::kNone)
            return cursor.error_at(
                item.parsed.position,
                fmt::format("'{}' is too far away: {} words", item.parsed.target, op.imm));
        }
        op.last = i + 1 == packets_[p].size();
        out.words.push_back(arch::encode_dsp_op(op));
        out.lines.push_back(item.line.number);
      }
    return out;
  }

  const std::string& file_;
  const Options& options_;
  std::set<std::string> taken_;
  Symbols symbols_;
  Aliases aliases_;
  std::map<std::string, Macro, std::less<>> macros_;
  std::map<std::string, std::size_t> labels_;  ///< to packets
  std::vector<Items> packets_;
  bool scheduling_ = false, no_alias_ = false;
  Line schedule_line_;
  Items scheduled_;
  std::size_t statements_ = 0;
  int depth_ = 0;
};

constexpr std::uint32_t kMagic = 0x58505344;  // "DSPX"

}  // namespace

base::Result<Program> assemble(std::string_view text, const std::string& name,
                               const Options& options) {
  return Assembler(name, options).run(text);
}

std::vector<std::uint8_t> write_program(const std::vector<std::uint32_t>& words) {
  arch::ByteWriter out;
  out.put(kMagic), out.put(std::uint32_t{arch::kDspIsaVersion}), out.put(words);
  return std::move(out.bytes());
}

base::Result<std::vector<std::uint32_t>> read_program(const std::vector<std::uint8_t>& bytes,
                                                      const std::string& name) {
  const auto bad = [&](std::string message) {
    return base::Error{base::ErrorKind::kInput, name, std::move(message),
                       "deputy asm writes such files"};
  };
  arch::ByteReader in(bytes);
  if (in.get<std::uint32_t>() != kMagic || !in.ok()) return bad("this is no DSP program");
  if (const auto version = in.get<std::uint32_t>(); version != arch::kDspIsaVersion)
    return bad(fmt::format("instruction set version {}, not {}", version, arch::kDspIsaVersion));
  std::vector<std::uint32_t> words;
  in.read(words, base::Field{.name = "words"});
  if (!in.ok()) return bad(in.problem());
  if (in.remaining() != 0) return bad(fmt::format("{} bytes follow the program", in.remaining()));
  return words;
}

std::string disassemble(const std::vector<std::uint32_t>& words) {
  std::string out;
  for (std::size_t at = 0; at < words.size();) {
    arch::DspPacket packet;
    if (arch::decode_dsp_packet(words, at, packet) == arch::DspDecodeFault::kNone) {
      out += fmt::format("{:5}  {}\n", at, arch::disassemble_dsp_packet(packet, at));
      at += packet.count;
    } else {
      out += fmt::format("{:5}  .word 0x{:08x}\n", at, words[at]), ++at;
    }
  }
  return out;
}

}  // namespace deputy::dsp_asm
