// A stream's scenario: sensor, what the DSP does with its samples, the network, the decision, and
// what it may cost. YAML files in configs/streams; docs/streams.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/fields.h"
#include "base/result.h"

namespace deputy::tools {

struct StreamSource {
  std::int64_t seed = 1;
  double seconds = 60, speedup = 1, mb_per_s = 0;
  std::string file, labels;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.seed, Field{.name = "seed", .doc = "of the generated signal", .min = 0, .max = 2147483647});
    v(s.seconds,
      Field{.name = "seconds", .doc = "of signal", .unit = "s", .min = 0.01, .max = 1e6});
    v(s.speedup, Field{.name = "speedup",
                       .doc = "the sensor delivers so much faster than its signal was taken",
                       .min = 0.01,
                       .max = 1e6});
    v(s.mb_per_s,
      Field{.name = "mb_per_s",
            .doc = "rate at which a frame comes in; 0: the SoC's sensor.mb_per_s, times speedup",
            .unit = "MB/s",
            .min = 0,
            .max = 1e6});
    v(s.file, Field{.name = "file",
                    .doc = "samples as the sensor gives them, frame by frame; none: generated"});
    v(s.labels,
      Field{.name = "labels", .doc = "with a file: lines of sample number and class, by time"});
  }
};

/// What the SoC's model does not know.
struct StreamSurroundings {
  double analog_mw = 0, radio_nj_per_byte = 0;
  std::int32_t radio_bytes = 0;
  std::string analog_source, radio_source;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.analog_mw, Field{.name = "analog_mw",
                         .doc = "analogue front end or image sensor, always on",
                         .unit = "mW",
                         .min = 0,
                         .max = 1e6});
    v(s.analog_source, Field{.name = "analog_source", .doc = "who is cited for it"});
    v(s.radio_nj_per_byte,
      Field{
          .name = "radio_nj_per_byte", .doc = "one byte sent", .unit = "nJ", .min = 0, .max = 1e9});
    v(s.radio_bytes, Field{.name = "radio_bytes",
                           .doc = "sent for each decision",
                           .unit = "bytes",
                           .min = 0,
                           .max = 1e9});
    v(s.radio_source, Field{.name = "radio_source", .doc = "who is cited for it"});
  }
};

/// A time in which the sensor delivers nothing.
struct Dropout {
  double at_s = 0, for_s = 1;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.at_s, Field{.name = "at_s", .doc = "begins", .unit = "s", .min = 0, .max = 1e6});
    v(s.for_s, Field{.name = "for_s", .doc = "and lasts", .unit = "s", .min = 0, .max = 1e6});
  }
};

struct StreamScenario {
  std::string name, chain = "ecg", soc, model;
  StreamSource source;
  StreamSurroundings around;
  double deadline_ms = 100, watchdog_ms = 50;
  std::int32_t ring_frames = 8, watermark = 1;
  bool chained = true, zero_copy = true;
  std::vector<Dropout> dropouts;
  std::string folder;  ///< of the file, for the names in it
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name", .doc = "shown in reports"});
    v(s.chain, Field{.name = "chain", .doc = "what is done with the samples (docs/streams.md)"});
    v(s.soc, Field{.name = "soc", .doc = "a SoC file or name"});
    v(s.model, Field{.name = "model",
                     .doc = "the network: .tflite, from this file's folder, or builtin:NAME "
                            "(deputy list networks)"});
    v(s.source, Field{.name = "source", .doc = "the signal"});
    v(s.around, Field{.name = "around", .doc = "what the device has besides"});
    v(s.deadline_ms, Field{.name = "deadline_ms",
                           .doc = "from the last sample that a decision needs to the decision",
                           .unit = "ms",
                           .min = 1e-3,
                           .max = 1e6});
    v(s.watchdog_ms, Field{.name = "watchdog_ms",
                           .doc = "how often the host looks at what it waits for",
                           .unit = "ms",
                           .min = 0.1,
                           .max = 1e5});
    v(s.ring_frames,
      Field{.name = "ring_frames", .doc = "buffers of the sensor's ring", .min = 1, .max = 255});
    v(s.watermark, Field{.name = "watermark",
                         .doc = "frames that wait before the host is woken",
                         .min = 1,
                         .max = 255});
    v(s.chained,
      Field{.name = "chained",
            .doc = "the NPU follows the DSP without the host; else the host starts each"});
    v(s.zero_copy,
      Field{.name = "zero_copy",
            .doc = "engines work on the buffers where they are; else the CPU copies between them"});
  }
};

/// Reads a scenario and applies `sets` ("key=value"). Errors say file:line, key and what to do.
base::Result<StreamScenario> load_scenario(const std::string& path,
                                           const std::vector<std::string>& sets);

}  // namespace deputy::tools
