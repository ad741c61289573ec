// What happened when, in one run: slices of work by track, signals that change, points on
// timelines, bytes moved. Models write into it when one is attached, and nothing of it exists
// otherwise. Plain data, no SystemC: tools make a Perfetto trace, a VCD or an HTML page of it. All
// times in ps from reset.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deputy::sim {

/// Work on a track, whose slices do not overlap and are in the order of their ends.
struct TraceSlice {
  std::uint64_t from_ps = 0, to_ps = 0;
  std::uint64_t issued_ps = 0;  ///< when it was begun, which may be during the slice before
  std::string_view what;        ///< instruction, kernel, ...: text that outlives every trace
  std::int64_t op = -1;         ///< the source operator; -1: none
  std::uint64_t command =
      0;  ///< NPU: byte offset in its stream; queue: job; DMA: descriptor of the chain
  std::uint64_t bytes = 0;  ///< moved between memory and engine
  std::uint64_t macs = 0;
  std::int32_t region = -1;  ///< NPU transfers: of the memory side; -1: none
  bool weights = false;      ///< NPU transfers: of weights or parameters, not of a feature map
  std::uint64_t offset = 0, extent = 0;  ///< first byte and span from there, from the region's base
};
struct TraceTrack {
  std::string name;
  std::vector<TraceSlice> slices;
};

/// A number that changes: a line (0 or 1), a fill level, a timeline's value, or a pulse, whose
/// value counts.
enum class SignalKind : std::uint8_t { kLine, kLevel, kTimeline, kPulse };
struct TraceSignal {
  std::string name;
  SignalKind kind = SignalKind::kLine;
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      changes;  ///< time, value; 0 before the first
};

/// Somebody reached a point of a timeline, or had waited until it was reached. `track` -1: the
/// host.
struct TraceFence {
  std::uint64_t at_ps = 0, timeline = 0, value = 0;
  std::int32_t track = -1;
  bool signalled = false;  ///< else waited for
};

/// Bytes moved by a memory in equal intervals from 0 on. The interval doubles when there are too
/// many.
class TraceTraffic {
 public:
  static constexpr std::size_t kMost = 4096;
  explicit TraceTraffic(std::string memory) : name(std::move(memory)) {}
  void add(std::uint64_t at_ps, std::uint64_t bytes, bool write);

  std::string name;
  std::uint64_t interval_ps = 1000;
  std::array<std::vector<std::uint64_t>, 2> bytes;  ///< read, written
};

class Trace {
 public:
  /// Slices and changes beyond these are counted, not kept.
  static constexpr std::size_t kMostSlices = 4'000'000, kMostChanges = 8'000'000;

  /// The number of a track, signal or memory that is there from now on.
  int track(std::string_view name);
  int signal(std::string_view name, SignalKind kind);
  int memory(std::string_view name);

  void slice(int track, const TraceSlice& slice);
  /// The same, as part of the slice before when that ended just then and is of the same kind.
  void extend(int track, const TraceSlice& slice);
  void change(int signal, std::uint64_t at_ps, std::uint64_t value);
  /// One pulse more.
  void pulse(int signal, std::uint64_t at_ps);
  void fence(const TraceFence& fence) { fences_.push_back(fence); }
  void moved(int memory, std::uint64_t at_ps, std::uint64_t bytes, bool write) {
    traffic_[static_cast<std::size_t>(memory)].add(at_ps, bytes, write);
  }

  const std::vector<TraceTrack>& tracks() const { return tracks_; }
  const std::vector<TraceSignal>& signals() const { return signals_; }
  const std::vector<TraceFence>& fences() const { return fences_; }
  const std::vector<TraceTraffic>& traffic() const { return traffic_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  std::vector<TraceTrack> tracks_;
  std::vector<TraceSignal> signals_;
  std::vector<TraceFence> fences_;
  std::vector<TraceTraffic> traffic_;
  std::size_t slices_ = 0, changes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace deputy::sim
