// Traces of a real run: they change nothing, agree with what the engines counted by themselves, and
// read back by other readers: libprotobuf for Perfetto's format, a small one here for value
// changes.
#include <google/protobuf/unknown_field_set.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/system/deputy_process.h"
#include "tools/html/page.h"
#include "tools/trace/pftrace.h"
#include "tools/trace/vcd.h"

using namespace deputy;
using Catch::Matchers::Contains;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

namespace {

struct Traced {
  sim::Trace trace;
  soc::SocConfig soc;
  tools::Simulation simulation;
  tools::Report report;
  tools::TraceView view;
};

// The ECG network, its last operators on the CPU so that the host has steps of its own.
void run_ecg(Traced& out, bool traced) {
  auto graph = tools::load_model(test::project_file("workloads/ecg/ecg_beats.tflite"));
  auto soc = soc::load_soc_config(test::project_file("configs/soc/wearable.yaml"), {});
  REQUIRE((graph.ok() && soc.ok()));
  out.soc = *soc;
  tools::SimulateOptions options;
  options.soc = *soc;
  options.timing_only = true;
  options.effort = delegate::Effort::kFast;
  options.trace = traced ? &out.trace : nullptr;
  auto inputs = tools::load_inputs(*graph, {}, 1);
  auto simulation = tools::simulate(*graph, options, *inputs);
  if (!simulation.ok()) FAIL(simulation.error().text());
  out.simulation = std::move(*simulation);
  out.report = tools::make_report(out.simulation, options);
  if (traced) out.view = tools::view_of(out.trace, out.simulation, out.report);
}

const sim::TraceTrack& track(const Traced& t, const std::string& name) {
  for (const auto& one : t.view.tracks)
    if (one.name == name) return one;
  FAIL("no track " << name);
  return t.view.tracks[0];
}

std::uint64_t sum(const sim::TraceTrack& track, std::uint64_t sim::TraceSlice::*member) {
  std::uint64_t out = 0;
  for (const auto& slice : track.slices) out += slice.*member;
  return out;
}

// First field `number` of a message.
const UnknownField* find(const UnknownFieldSet& message, int number) {
  for (int i = 0; i < message.field_count(); ++i)
    if (message.field(i).number() == number) return &message.field(i);
  return nullptr;
}
std::uint64_t number(const UnknownFieldSet& message, int field) {
  const UnknownField* f = find(message, field);
  return f ? f->varint() : 0;
}
struct Message : UnknownFieldSet {  // a set cannot be copied
  explicit Message(const UnknownField& field) {
    REQUIRE(ParseFromString(field.length_delimited()));
  }
};
Message message(const UnknownField& field) { return Message(field); }

}  // namespace

TEST_CASE("a traced run is the same run, and its trace agrees with what the engines counted") {
  Traced plain, t;
  run_ecg(plain, false);
  run_ecg(t, true);
  CHECK(tools::report_json(plain.report, true) == tools::report_json(t.report, true));

  const auto& counters = t.report.counters;
  const auto &load = track(t, "npu.load"), &compute = track(t, "npu.compute"),
             &store = track(t, "npu.store");
  CHECK(sum(compute, &sim::TraceSlice::macs) == counters.at("npu.macs"));
  CHECK(load.slices.size() + compute.slices.size() + store.slices.size() +
            counters.at("npu.jobs") ==
        counters.at("npu.instructions"));
  const auto moved = [&](const char* initiator) {
    std::uint64_t bytes = 0;
    for (const auto& [memory, n] : t.simulation.soc.initiator_traffic.at(initiator))
      bytes += n.read_bytes + n.write_bytes;
    return bytes;
  };
  CHECK(sum(load, &sim::TraceSlice::bytes) == moved("npu.load"));
  CHECK(sum(store, &sim::TraceSlice::bytes) == moved("npu.store"));
  for (const auto& traffic : t.trace.traffic())
    for (int write = 0; write < 2; ++write) {
      std::uint64_t bytes = 0;
      for (const auto n : traffic.bytes[static_cast<std::size_t>(write)]) bytes += n;
      const auto& counted = t.simulation.soc.memory_traffic.at(traffic.name);
      CHECK(bytes == (write ? counted.write_bytes : counted.read_bytes));
    }
  std::uint64_t busy = 0;
  for (const auto& slice : track(t, "host").slices) busy += slice.to_ps - slice.from_ps;
  CHECK(busy == t.simulation.soc.host_busy_ps);
  const std::uint64_t period = 1'000'000'000 / t.simulation.soc.npu_clock_khz;
  for (const auto& [unit, counter] : {std::pair(&load, "npu.load_active_cycles"),
                                      std::pair(&compute, "npu.compute_active_cycles"),
                                      std::pair(&store, "npu.store_active_cycles")}) {
    std::uint64_t cycles = 0;
    for (const auto& slice : unit->slices)
      cycles += (slice.to_ps - slice.from_ps + period - 1) / period;
    CHECK(cycles == counters.at(counter));
  }
  for (const auto& one : t.view.tracks) {
    std::uint64_t last = 0;
    for (const auto& slice : one.slices) {
      REQUIRE(slice.from_ps >= last);
      REQUIRE(slice.to_ps >= slice.from_ps);
      last = slice.to_ps;
    }
    CHECK(last <= t.simulation.soc.end_ps);
  }
  std::size_t rises = 0;
  for (const auto& signal : t.view.signals)
    if (signal.name.starts_with("irq."))
      for (const auto& change : signal.changes) rises += change.second;
  CHECK(rises == t.report.interrupts);
}

TEST_CASE("memory over time holds every result from its first byte to its last use") {
  Traced t;
  run_ecg(t, true);
  REQUIRE(t.view.memory.size() > 5);
  for (const auto& span : t.view.memory) {
    CHECK(span.from_ps <= span.to_ps);
    CHECK(span.from_ps >= t.simulation.inference.start_ps);
    CHECK(span.to_ps <= t.simulation.inference.end_ps);
    CHECK(span.offset + span.bytes <=
          t.simulation.executable.region_bytes(static_cast<arch::Region>(span.region)));
  }
  // The graph's output is read by the host when all is over.
  CHECK(std::ranges::any_of(
      t.view.memory, [&](const auto& s) { return s.to_ps == t.simulation.inference.end_ps; }));
}

TEST_CASE(
    "libprotobuf reads the Perfetto trace: balanced slices, each with operator, command and "
    "bytes") {
  Traced t;
  run_ecg(t, true);
  UnknownFieldSet file;
  REQUIRE(file.ParseFromString(tools::pftrace(t.view, t.trace, t.report)));
  std::map<std::uint64_t, std::string> tracks, names, notes;
  std::map<std::uint64_t, int> open, slices, counts;
  std::map<std::string, std::uint64_t> bytes;
  std::set<std::uint64_t> from_jobs, instants;
  for (int i = 0; i < file.field_count(); ++i) {
    REQUIRE(file.field(i).number() == 1);
    const auto packet = message(file.field(i));
    CHECK(number(packet, 10) == 1);
    CHECK(number(packet, 13) == (i == 0 ? 1 : 2));
    if (const auto* d = find(packet, 60))
      tracks[number(message(*d), 1)] = find(message(*d), 2)->length_delimited();
    if (const auto* fresh = find(packet, 12)) {
      const auto interned = message(*fresh);
      for (int k = 0; k < interned.field_count(); ++k) {
        const auto entry = message(interned.field(k));
        auto& into = interned.field(k).number() == 2 ? names : notes;
        if (interned.field(k).number() != 29)
          into[number(entry, 1)] = find(entry, 2)->length_delimited();
      }
    }
    const auto* e = find(packet, 11);
    if (!e) continue;
    const auto event = message(*e);
    const std::uint64_t uuid = number(event, 11), type = number(event, 9);
    REQUIRE(tracks.contains(uuid));
    const auto* flow = find(event, 47);
    if (type == 3 && flow) instants.insert(flow->fixed64());
    if (type == 4) ++counts[uuid];
    if (type == 2) CHECK(--open[uuid] == 0);
    if (type != 1) continue;
    CHECK(++open[uuid] == 1);
    ++slices[uuid];
    CHECK(names.contains(number(event, 10)));
    if (flow) from_jobs.insert(flow->fixed64());
    std::map<std::string, std::uint64_t> values;
    for (int k = 0; k < event.field_count(); ++k)
      if (event.field(k).number() == 4) {
        const auto note = message(event.field(k));
        REQUIRE(notes.contains(number(note, 1)));
        values[notes[number(note, 1)]] = number(note, 3);
      }
    for (const char* needed : {"source_op", "command", "bytes", "start_ps", "duration_ps"})
      REQUIRE(values.contains(needed));
    CHECK(number(packet, 8) == values["start_ps"] / 1000);
    bytes[tracks[uuid]] += values["bytes"];
  }
  for (const auto& [uuid, name] : tracks)
    if (name == "npu.load" || name == "npu.compute" || name == "npu.store")
      CHECK(slices[uuid] == static_cast<int>(track(t, name).slices.size()));
  for (const char* name : {"npu.load", "npu.store"})
    CHECK(bytes[name] == sum(track(t, name), &sim::TraceSlice::bytes));
  CHECK(counts.size() > 5);  // memories, power, queues
  // The last job's signal is an arrow from the job to the fence.
  REQUIRE(from_jobs.size() == 1);
  CHECK(instants == from_jobs);
}

TEST_CASE("the value changes read back as they were") {
  Traced t;
  run_ecg(t, true);
  std::istringstream text(tools::vcd_text(t.view, t.simulation.soc.end_ps));
  std::map<std::string, std::string> paths;  // code -> name
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::uint64_t>>> changes;
  std::vector<std::string> scopes;
  std::uint64_t now = 0;
  bool initial = true;
  for (std::string word; text >> word;) {
    if (word == "$scope") {
      std::string kind, name;
      text >> kind >> name;
      scopes.push_back(name);
    } else if (word == "$upscope") {
      REQUIRE(!scopes.empty());
      scopes.pop_back();
    } else if (word == "$var") {
      std::string kind, width, code, name;
      text >> kind >> width >> code >> name;
      CHECK(paths.emplace(code, scopes.back() + "." + name).second);
    } else if (word[0] == '#') {
      const std::uint64_t next = std::stoull(word.substr(1));
      CHECK((next > now || next == 0));
      initial = next == 0;
      now = next;
    } else if (word[0] == 'b') {
      std::string code;
      text >> code;
      if (!initial)
        changes[paths.at(code)].emplace_back(now, std::stoull(word.substr(1), nullptr, 2));
    } else if ((word[0] == '0' || word[0] == '1') && paths.contains(word.substr(1)) && !initial) {
      changes[paths.at(word.substr(1))].emplace_back(now, word[0] - '0');
    }
  }
  CHECK(scopes.empty());
  CHECK(now == t.simulation.soc.end_ps);
  for (const auto& signal : t.view.signals) {
    if (signal.kind == sim::SignalKind::kPulse) continue;
    std::string name = signal.name;
    std::ranges::replace(name, '.', '_');
    bool found = false;
    for (const auto& [path, values] : changes) {
      std::string flat = path;
      std::ranges::replace(flat, '.', '_');
      const bool same =
          flat == name || flat == "timeline_t" + name.substr(std::min<std::size_t>(name.size(), 9));
      if (!same) continue;
      found = true;
      std::vector<std::pair<std::uint64_t, std::uint64_t>> later;
      for (const auto& change : signal.changes)
        if (change.first > 0) later.push_back(change);
      CHECK(values == later);
    }
    CHECK(found);
  }
}

TEST_CASE("pages hold their data, whatever the model is called") {
  Traced t;
  run_ecg(t, true);
  t.report.model = "</script><script>alert(1)</script>\"DEPUTY_DATA\"";
  const auto made =
      tools::run_page(nlohmann::ordered_json::parse(tools::report_json(t.report, true)),
                      tools::run_page_data(t.view, t.trace, t.simulation, t.report, t.soc), "page");
  REQUIRE(made.ok());
  const std::string& page = *made;
  CHECK_THAT(page, !Contains("</script><script>alert"));
  CHECK(page.size() < 5'000'000);
  CHECK_THAT(page, Contains("<!-- sources ") && Contains("Apache License"));
  CHECK_THAT(page, !Contains("src=\"http") && !Contains("<link rel=\"stylesheet\""));
  const std::string mark = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.rfind(mark) + mark.size();
  const auto data = nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
  CHECK(data["format"] == "deputy-run-page-1");
  CHECK(data["report"]["model"] == t.report.model);
  CHECK(data["report"]["latency_ns"] == t.report.latency_ns);
}

TEST_CASE("deputy run writes page, trace and value changes, the same bytes every time") {
  test::TempFolder folder;
  std::vector<std::string> all;
  for (const char* n : {"a", "b"}) {
    const auto r = test::run_deputy(
        {"run", test::project_file("workloads/ecg/ecg_beats.tflite"), "--soc",
         test::project_file("configs/soc/wearable.yaml"), "--timing-only", "--effort", "fast",
         "--quiet", "--html", folder.file(n) + ".html", "--trace", folder.file(n) + ".pftrace",
         "--vcd", folder.file(n) + ".vcd"});
    INFO(r.err);
    REQUIRE(r.exit_code == 0);
    all.push_back(test::read_text(folder.file(n) + ".html") +
                  test::read_text(folder.file(n) + ".pftrace") +
                  test::read_text(folder.file(n) + ".vcd"));
  }
  CHECK(all[0] == all[1]);
  const auto refused =
      test::run_deputy({"run", test::project_file("workloads/ecg/ecg_beats.tflite"), "--compare",
                        "all", "--trace", folder.file("c")});
  CHECK(refused.exit_code == 2);
}
