// `deputy explore`: what it finds, what it records when a point goes wrong, and that nothing is
// lost or done twice when it is killed.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/system/deputy_process.h"
#include "tools/explore/evaluator.h"
#include "tools/explore/results.h"
#include "tools/explore/sweep.h"
#include "tools/worker_pool.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;

namespace {

const char* const kSmall = R"(
workloads: [{network: ecg_tcn}]
objectives: [latency, energy, area]
parameters:
  lanes: {key: npu.mac.oc_lanes, values: [4, 8, 16]}
  clock: {key: npu.clock_mhz, values: [100, 200]}
  sram: {key: sram.bytes, values: [131072, 1048576]}
)";

/// Starts the program in a process group of its own and kills the group after some microseconds.
/// True: it was over before.
bool killed_deputy(const std::vector<std::string>& arguments, unsigned microseconds) {
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr))
      _exit(127);
    std::vector<char*> argv{const_cast<char*>("deputy")};
    for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execv(DEPUTY_BINARY, argv.data());
    _exit(127);
  }
  setpgid(pid, pid);
  usleep(microseconds);
  kill(-pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status);
}

std::size_t stored(const std::string& db) {
  if (!std::filesystem::exists(db)) return 0;
  auto store = explore::Store::open(db);  // the lock ends with the process that was killed
  if (!store.ok()) FAIL(store.error().text());
  return *store->size();
}

void killed_and_resumed(int kills, const std::vector<std::string>& more) {
  TempFolder folder;
  write_text(folder.file("e.yaml"), kSmall);
  const auto arguments = [&](const std::string& name) {
    std::vector<std::string> out = {"explore", folder.file("e.yaml"),
                                    "--db",    folder.file(name + ".sqlite"),
                                    "--csv",   folder.file(name + ".csv")};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  const auto whole = run_deputy(arguments("whole"));
  INFO(whole.err);
  REQUIRE(whole.exit_code == 0);
  std::mt19937 bits(static_cast<unsigned>(kills));
  std::size_t before = 0;
  for (int k = 0; k < kills; ++k) {
    (void)killed_deputy(arguments("killed"), bits() % 400000);
    const std::size_t now = stored(folder.file("killed.sqlite"));
    CHECK(now >= before);
    before = now;
  }
  const auto last = run_deputy(arguments("killed"));
  REQUIRE(last.exit_code == 0);
  CHECK_THAT(last.out, Contains(std::to_string(before) + " of them from"));
  CHECK(read_text(folder.file("killed.csv")) == read_text(folder.file("whole.csv")));
  CHECK(stored(folder.file("killed.sqlite")) == stored(folder.file("whole.sqlite")));
}

}  // namespace

TEST_CASE(
    "an exploration finds the front and the parameters that matter, and a second run runs "
    "nothing") {
  TempFolder folder;
  write_text(folder.file("e.yaml"), kSmall);
  const std::vector<std::string> arguments = {"explore", folder.file("e.yaml"), "--db",
                                              folder.file("e.sqlite")};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), arguments.begin(), arguments.end());
    return run_deputy(more);
  };
  const auto first = with({"--json", "--jobs", "1"});
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  const auto json = nlohmann::json::parse(first.out);
  REQUIRE(json["points"].size() == 12);
  CHECK(json["statuses"].size() == 1);
  CHECK(json["statuses"]["ok"] == 12);
  // One point is what `deputy run` says of it.
  const auto& point = json["points"][0];
  std::vector<std::string> run = {
      "run", folder.file("ecg_tcn.tflite"), "--timing-only", "--effort", "fast", "--json"};
  for (const auto& [key, value] : point["sets"].items())
    run.insert(run.end(), {"--set", key + "=" + value.get<std::string>()});
  REQUIRE(run_deputy({"network", "ecg_tcn", "-o", folder.file("ecg_tcn.tflite")}).exit_code == 0);
  const auto alone = nlohmann::json::parse(run_deputy(run).out);
  CHECK(point["objectives"]["latency"] == alone["latency_ns"]);
  CHECK(point["objectives"]["energy"] == alone["power"]["inference_nj"]);
  // No point is better than one of the front; SRAM size is the largest part of the area and nothing
  // to the latency's clock.
  std::vector<explore::Values> values;
  for (const auto& p : json["points"])
    values.push_back(
        {p["objectives"]["latency"], p["objectives"]["energy"], p["objectives"]["area"]});
  CHECK(json["front"].get<std::vector<std::size_t>>() == explore::pareto_front(values));
  const auto share = [&](const char* objective, std::size_t p) {
    return json["sensitivity"][objective][p]["share"].get<double>();
  };
  CHECK(json["sensitivity"]["area"][2]["parameter"] == "sram");
  CHECK(share("area", 2) > 0.9);
  CHECK(share("area", 0) == Approx(0).margin(1e-12));  // the clock has no area
  CHECK(share("latency", 0) + share("latency", 1) > 0.5);
  // The map of bottlenecks has every point once for each parameter.
  std::map<std::string, std::size_t> mapped;
  for (const auto& row : json["bottleneck_map"]) {
    std::size_t sum = 0;
    for (const auto& [word, count] : row["bounds"].items()) sum += count.get<std::size_t>();
    CHECK(sum == row["points"]);
    CHECK(row["points"] == (row["parameter"] == "lanes" ? 4 : 6));
    mapped[row["parameter"]] += sum;
  }
  CHECK(mapped == std::map<std::string, std::size_t>{{"clock", 12}, {"lanes", 12}, {"sram", 12}});

  const auto second = with({"--json", "--jobs", "2"});
  CHECK(second.out == first.out);
  CHECK_THAT(with({}).out, Contains("12 runs, 12 of them from"));
}

TEST_CASE("mistakes in an experiment are told before anything runs") {
  TempFolder folder;
  const auto error = [&](const std::string& text) {
    write_text(folder.file("e.yaml"), text);
    const auto r = run_deputy({"explore", folder.file("e.yaml"), "--db", folder.file("e.sqlite")});
    CHECK(r.exit_code == 4);
    return r.err;
  };
  const std::string start = "workloads: [{network: ecg_tcn}]\n";
  CHECK_THAT(error(start + "parameters: {a: {key: npu.clock, values: [1]}}"),
             Contains("no knob 'npu.clock'"));
  CHECK_THAT(
      error(start + "objectives: [speed]\nparameters: {a: {key: npu.clock_mhz, values: [100]}}"),
      Contains("use one of latency"));
  CHECK_THAT(
      error(start +
            "objectives: [latency@kws]\nparameters: {a: {key: npu.clock_mhz, values: [100]}}"),
      Contains("no workload 'kws'"));
  CHECK_THAT(error(start + "method: magic\nparameters: {a: {key: npu.clock_mhz, values: [100]}}"),
             Contains("no method 'magic'"));
  CHECK_THAT(error(start + "effort: fats\nparameters: {a: {key: npu.clock_mhz, values: [100]}}"),
             Contains("no effort 'fats'") && Contains("fast, full"));
  CHECK_THAT(error(start + "oops: 1\nparameters: {a: {key: npu.clock_mhz, values: [100]}}"),
             Contains("unknown key 'oops'"));
  CHECK_THAT(error("parameters: {a: {key: npu.clock_mhz, values: [100]}}"),
             Contains("nothing runs"));
  CHECK_THAT(
      error(start +
            "constraints: ['a > 500']\nparameters: {a: {key: npu.clock_mhz, values: [100]}}"),
      Contains("allow no point"));
}

TEST_CASE(
    "files that an experiment names lie beside it, and what is in them counts, not what they are "
    "called") {
  TempFolder folder;
  std::filesystem::create_directories(folder.file("sub"));
  const std::string tables = project_file("configs/");
  const auto write_tables = [&](const char* mac_pj, const char* area) {
    write_text(
        folder.file("sub/energy.yaml"),
        "volts: 0.9\ndram_file: " + tables + "energy/lpddr4-3200.yaml\nhost_file: " + tables +
            "host/cortex-m33.yaml\nnpu_mac_pj: " + mac_pj +
            "\nnpu_vec_pj: 1\nnoc_byte_pj: 1\nnpu_decode_byte_pj: 1\nnpu_cycle_pj: 1\nnpu_wake_pj: "
            "1\n"
            "sram_wake_pj: 1\nnpu_static_mw: 1\nnpu_gated_share: 0.1\nsram_static_mw_per_mib: 1\n"
            "sram_retention_share: 0.1\nsram_macros:\n  - {kib: 8, read_byte_pj: 1, write_byte_pj: "
            "1, "
            "basis: assumption, source: a test}\n");
    write_text(folder.file("sub/area.yaml"),
               std::string("mac_um2: {value: ") + area + ", basis: assumption, source: a test}\n");
  };
  const auto run = [&] {
    const auto r = run_deputy(
        {"explore", folder.file("sub/e.yaml"), "--db", folder.file("e.sqlite"), "--json"});
    INFO(r.out << r.err);
    REQUIRE(r.exit_code == 0);
    const auto json = nlohmann::json::parse(r.out);
    return json["points"][0]["objectives"].get<std::map<std::string, double>>();
  };
  std::size_t runs = 0;
  for (const char* soc :
       {"soc: wearable\nset: [energy.file=energy.yaml]\nparameters: {a: {key: npu.clock_mhz, "
        "values: [100]}}\n",
        "soc: soc.yaml\nparameters: {f: {key: energy.file, values: [energy.yaml]}}\n"}) {
    INFO(soc);
    write_text(folder.file("sub/soc.yaml"), "name: mine\nhost: {clock_mhz: 50}\nenergy: {file: " +
                                                tables + "energy/28nm.yaml}\n");
    write_text(folder.file("sub/e.yaml"),
               std::string("workloads: [{network: ecg_tcn}]\nobjectives: [energy, area, "
                           "latency]\narea: area.yaml\n") +
                   soc);
    write_tables("1", "1");
    const auto first = run();
    CHECK(stored(folder.file("e.sqlite")) == ++runs);
    write_tables("2", "1");
    const auto dearer = run();
    CHECK(stored(folder.file("e.sqlite")) == ++runs);
    CHECK(dearer.at("energy") > first.at("energy"));
    CHECK(dearer.at("latency") == first.at("latency"));
    write_tables("1", "2");
    const auto larger = run();
    CHECK(stored(folder.file("e.sqlite")) == ++runs);
    CHECK(larger.at("area") == 2 * first.at("area"));
    write_tables("1", "1");
    CHECK(run() == first);  // known by what is in the files
    CHECK(stored(folder.file("e.sqlite")) == runs);
  }
  write_text(folder.file("sub/soc.yaml"), "name: mine\nhost: {clock_mhz: 100}\nenergy: {file: " +
                                              tables + "energy/28nm.yaml}\n");
  (void)run();
  CHECK(stored(folder.file("e.sqlite")) == runs + 1);
}

TEST_CASE("refused points are recorded with their reason and the others run") {
  TempFolder folder;
  write_text(
      folder.file("e.yaml"),
      "workloads: [{network: ecg_tcn}]\nparameters: {a: {key: sram.bytes, values: [1048576, 17]}}");
  const auto r =
      run_deputy({"explore", folder.file("e.yaml"), "--db", folder.file("e.sqlite"), "--json"});
  CHECK(r.exit_code == 0);
  const auto json = nlohmann::json::parse(r.out);
  CHECK(json["points"][0]["status"] == "ok");
  CHECK(json["points"][1]["status"] == "refused");
  CHECK_THAT(json["points"][1]["reason"].get<std::string>(), Contains("sram.bytes"));
  write_text(folder.file("none.yaml"),
             "workloads: [{network: ecg_tcn}]\nparameters: {a: {key: sram.bytes, values: [17]}}");
  CHECK(run_deputy({"explore", folder.file("none.yaml"), "--db", folder.file("none.sqlite")})
            .exit_code == 5);
}

TEST_CASE("a point that crashes or never ends is recorded, and the sweep goes on") {
  TempFolder folder;
  auto store = explore::Store::open(folder.file("s.sqlite"));
  REQUIRE(store.ok());
  tools::SweepWork work;
  work.workloads = {"w"};
  work.key = [](const explore::Point& p, std::size_t) { return p.texts[0]; };
  work.job = work.key;
  const auto run = [](const std::string& job) -> std::string {
    if (job == "crash") {
      std::signal(SIGABRT, SIG_DFL);  // not the test program's own report
      std::abort();
    }
    for (volatile bool on = job == "hang"; on;) {
    }
    if (job == "exit") _exit(3);
    if (job == "refuse") return tools::Evaluator::encode({"refused", "too small", {}});
    return tools::Evaluator::encode({"ok", "", {{"latency", std::stod(job)}}});
  };
  work.run = run;
  std::vector<explore::Point> points;
  for (const char* text : {"1.25", "crash", "hang", "refuse", "exit", "2.5"})
    points.push_back({{text}, {0}, {}});
  {
    tools::Sweep sweep(work, *store, {2, 1, {}});
    const auto results = sweep.run(points);
    REQUIRE(results.ok());
    const char* const expected[] = {"ok", "crashed", "hung", "refused", "crashed", "ok"};
    for (std::size_t i = 0; i < points.size(); ++i) CHECK((*results)[i].status == expected[i]);
    CHECK((*results)[0].runs[0].values.at("latency") == 1.25);
    CHECK_THAT((*results)[1].reason, Contains("killed by signal 6"));
    CHECK_THAT((*results)[2].reason, Contains("still computing after 1 s"));
    CHECK_THAT((*results)[3].reason, Contains("too small"));
    CHECK_THAT((*results)[4].reason, Contains("exit code 3"));
    CHECK(sweep.ran() == 6);
  }
  // They are known now, and are not tried again until somebody wants to.
  tools::Sweep again(work, *store, {2, 1, {}});
  const auto known = again.run(points);
  REQUIRE(known.ok());
  CHECK(again.ran() == 0);
  CHECK((*known)[1].status == "crashed");
  REQUIRE(store->forget_dead().ok());
  CHECK(*store->size() == 3);
}

TEST_CASE(
    "a worker that is killed from outside does not condemn its job, one that does it twice does") {
  TempFolder folder;
  const std::string mark = folder.file("mark");
  tools::WorkerPool pool(
      2, 10,
      [&](const std::string& job) {
        if (job == "always" || (job == "once" && !std::filesystem::exists(mark))) {
          write_text(mark, "");
          kill(getpid(), SIGKILL);
        }
        return job + "!";
      },
      true);
  const std::string large(300000, 'x');
  pool.submit(0, "once"), pool.submit(1, "always"), pool.submit(2, large);
  std::map<std::size_t, tools::WorkerPool::Answer> answers;
  while (auto answer = pool.wait()) answers[answer->id] = *answer;
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].text == "once!");
  CHECK(answers[1].end == tools::WorkerPool::Answer::End::kCrashed);
  CHECK_THAT(answers[1].text, Contains("signal 9"));
  CHECK(answers[2].text == large + "!");
}

TEST_CASE(
    "killed three times and resumed, an exploration has the table of one that was left alone") {
  killed_and_resumed(3, {});
}

TEST_CASE("killed twenty times and resumed, by grid and by search", "[.slow]") {
  killed_and_resumed(20, {"--jobs", "1"});
  killed_and_resumed(20, {"--method", "nsga2", "--points", "9"});
}

TEST_CASE("shards that ran apart make the table of a whole run when they are merged") {
  TempFolder folder;
  write_text(folder.file("e.yaml"), kSmall);
  const auto with = [&](const std::string& db, std::vector<std::string> more) {
    more.insert(more.begin(), {"explore", folder.file("e.yaml"), "--db", folder.file(db)});
    return run_deputy(more);
  };
  const auto whole = with("whole.sqlite", {"--json"});
  REQUIRE(whole.exit_code == 0);
  REQUIRE(with("0.sqlite", {"--shard", "0/2"}).exit_code == 0);
  REQUIRE(with("1.sqlite", {"--shard", "1/2"}).exit_code == 0);
  CHECK(stored(folder.file("0.sqlite")) + stored(folder.file("1.sqlite")) ==
        stored(folder.file("whole.sqlite")));
  const std::vector<std::string> merge = {"--merge", folder.file("0.sqlite"), "--merge",
                                          folder.file("1.sqlite")};
  auto json = merge;
  json.push_back("--json");
  CHECK_THAT(with("merged.sqlite", merge).out, Contains("12 runs, 12 of them from"));
  CHECK(with("merged.sqlite", json).out == whole.out);
  CHECK(with("x.sqlite", {"--shard", "2/2"}).exit_code == 2);
  CHECK(with("x.sqlite", {"--shard", "0/2", "--method", "nsga2"}).exit_code == 2);
}

TEST_CASE(
    "a job array's tasks are shards, and one that does not come to its end is told with its log") {
  TempFolder folder;
  write_text(folder.file("e.yaml"), kSmall);
  // A Slurm of three lines: runs the array's tasks one after the other; FAIL says what goes wrong.
  const std::string sbatch = folder.file("sbatch");
  write_text(sbatch,
             "#!/bin/sh\n[ \"$FAIL\" = submit ] && exit 9\nfor last; do :; done\n"
             "for i in 0 1; do [ \"$FAIL\" = task ] && [ $i = 1 ] || SLURM_ARRAY_TASK_ID=$i sh "
             "$last >$last.$i.log 2>&1; done\n");
  std::filesystem::permissions(sbatch, std::filesystem::perms::owner_all);
  const std::string path = getenv("PATH");
  setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  const auto run = [&](const char* fail, std::vector<std::string> more) {
    setenv("FAIL", fail, 1);
    more.insert(more.begin(),
                {"explore", folder.file("e.yaml"), "--db",
                 folder.file(std::string(fail) + ".sqlite"), "--engine", "slurm", "--shards", "2"});
    return run_deputy(more);
  };
  const auto local =
      run_deputy({"explore", folder.file("e.yaml"), "--db", folder.file("local.sqlite"), "--json"});
  const auto whole = run("none", {"--json"});
  CHECK(whole.exit_code == 0);
  CHECK(whole.out == local.out);
  const auto not_submitted = run("submit", {});
  CHECK(not_submitted.exit_code == 7);
  CHECK_THAT(not_submitted.err, Contains("shard-0") && Contains("sbatch ended with code 9"));
  const auto lost = run("task", {});
  CHECK(lost.exit_code == 7);
  CHECK_THAT(lost.err,
             Contains("shard-1") && Contains("did not come to an end") && Contains("slurm.1.log"));
  // Shards that stand there from before do not hide that.
  std::filesystem::copy_file(folder.file("none.sqlite.shard-1"),
                             folder.file("task.sqlite.shard-1"));
  CHECK(run("task", {}).exit_code == 7);
  CHECK(run("none", {"--shard", "0/2"}).exit_code == 2);
  CHECK(run_deputy({"explore", folder.file("e.yaml"), "--db", folder.file("local.sqlite"),
                    "--shards", "2"})
            .exit_code == 2);
  setenv("PATH", path.c_str(), 1);
  unsetenv("FAIL");
}
