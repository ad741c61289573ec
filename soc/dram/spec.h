// What a DRAM device is: organisation, timing and currents, under JEDEC's names. The sets in
// configs/dram/*.yaml cite a source for each row; nothing here has a default.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "base/result.h"

namespace deputy::soc::dram {

/// One supply of a device: its voltage and the current it delivers in each of JEDEC's IDD
/// measurements.
struct Rail {
  double volt = 0;
  double idd0 = 0, idd2n = 0, idd2p = 0, idd3n = 0, idd3p = 0, idd4r = 0, idd4w = 0, idd5 = 0,
         idd5pb = 0, idd6 = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    const auto ma = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .unit = "mA", .min = 0, .max = 10000};
    };
    v(s.volt, Field{.name = "volt",
                    .doc = "supply voltage; 0: the device has no such supply",
                    .unit = "V",
                    .min = 0,
                    .max = 10});
    v(s.idd0, ma("idd0", "one activate and precharge each tRC"));
    v(s.idd2n, ma("idd2n", "precharge standby"));
    v(s.idd2p, ma("idd2p", "precharge power-down"));
    v(s.idd3n, ma("idd3n", "active standby"));
    v(s.idd3p, ma("idd3p", "active power-down"));
    v(s.idd4r, ma("idd4r", "reads without a gap"));
    v(s.idd4w, ma("idd4w", "writes without a gap"));
    v(s.idd5, ma("idd5", "all-bank refreshes without a gap"));
    v(s.idd5pb, ma("idd5pb", "per-bank refreshes each tREFIpb, average"));
    v(s.idd6, ma("idd6", "self-refresh"));
  }
};

struct Spec {
  std::string name = "none", currents_basis = "assumption", currents_source = "none";
  std::int32_t tck_ps = 0, width_bits = 0, devices = 0, ranks = 0, banks = 0, bank_groups = 0,
               row_bytes = 0;
  std::int32_t burst_length = 0, burst_ck = 0, command_ck = 0;
  std::int32_t rl = 0, wl = 0, trcd = 0, trp = 0, trpab = 0, tras = 0, trc = 0, trrd_s = 0,
               trrd_l = 0, tfaw = 0;
  std::int32_t tccd_s = 0, tccd_l = 0, twr = 0, twtr_s = 0, twtr_l = 0, trtp = 0, trtw_gap = 0,
               trtrs = 0, tppd = 0;
  std::int32_t trefi = 0, trfc = 0, trefi_pb = 0, trfc_pb = 0;
  std::int32_t txp = 0, tcke = 0, txsr = 0, tsr = 0;
  Rail rail_1, rail_2, rail_3;

  std::int32_t burst_bytes() const { return width_bits / 8 * burst_length; }
  double peak_mb_per_s() const {
    return static_cast<double>(burst_bytes()) * 1e6 / (static_cast<double>(burst_ck) * tck_ps);
  }

  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    const auto ck = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .unit = "tCK", .min = 0, .max = 1e6};
    };
    const auto n = [](const char* name, const char* doc, double most) {
      return Field{.name = name, .doc = doc, .min = 0, .max = most};
    };
    v(s.name, Field{.name = "name", .doc = "shown in reports"});
    v(s.currents_basis,
      Field{.name = "currents_basis",
            .doc = "what stands behind the rails, as in configs/energy: derived or assumption"});
    v(s.currents_source, Field{.name = "currents_source", .doc = "where they come from"});
    v(s.tck_ps,
      Field{.name = "tck_ps", .doc = "clock period", .unit = "ps", .min = 0, .max = 100000});
    v(s.width_bits, Field{.name = "width_bits",
                          .doc = "data bus of the channel",
                          .unit = "bits",
                          .min = 0,
                          .max = 256});
    v(s.devices, n("devices", "devices side by side in a rank; currents are per device", 32));
    v(s.ranks, n("ranks", "ranks that share the bus", 4));
    v(s.banks, n("banks", "banks of a rank", 16));
    v(s.bank_groups, n("bank_groups", "bank groups of a rank", 8));
    v(s.row_bytes, Field{.name = "row_bytes",
                         .doc = "bytes of an open row, all devices of the rank",
                         .unit = "bytes",
                         .min = 0,
                         .max = 65536});
    v(s.burst_length, n("burst_length", "beats of a burst", 64));
    v(s.burst_ck, ck("burst_ck", "clocks that a burst is on the data bus"));
    v(s.command_ck, ck("command_ck", "clocks that a command is on the command bus"));
    v(s.rl, ck("rl", "read command to data"));
    v(s.wl, ck("wl", "write command to data"));
    v(s.trcd, ck("trcd", "activate to read or write"));
    v(s.trp, ck("trp", "precharge of one bank to its activate"));
    v(s.trpab, ck("trpab", "precharge of all banks to an activate"));
    v(s.tras, ck("tras", "activate to precharge"));
    v(s.trc, ck("trc", "activate to activate, same bank"));
    v(s.trrd_s, ck("trrd_s", "activate to activate, other bank group"));
    v(s.trrd_l, ck("trrd_l", "activate to activate, same bank group"));
    v(s.tfaw, ck("tfaw", "window in which at most four activates fall"));
    v(s.tccd_s, ck("tccd_s", "column command to the next, other bank group"));
    v(s.tccd_l, ck("tccd_l", "column command to the next, same bank group"));
    v(s.twr, ck("twr", "end of write data to precharge"));
    v(s.twtr_s, ck("twtr_s", "end of write data to a read, other bank group"));
    v(s.twtr_l, ck("twtr_l", "end of write data to a read, same bank group"));
    v(s.trtp, ck("trtp", "read to precharge"));
    v(s.trtw_gap, ck("trtw_gap", "data bus between read data and write data"));
    v(s.trtrs, ck("trtrs", "data bus between bursts of two ranks"));
    v(s.tppd, ck("tppd", "precharge to precharge"));
    v(s.trefi, ck("trefi", "average interval of all-bank refreshes"));
    v(s.trfc, ck("trfc", "duration of an all-bank refresh"));
    v(s.trefi_pb, ck("trefi_pb", "average interval of per-bank refreshes; 0: the device has none"));
    v(s.trfc_pb, ck("trfc_pb", "duration of a per-bank refresh"));
    v(s.txp, ck("txp", "exit of power-down to a command"));
    v(s.tcke, ck("tcke", "shortest power-down"));
    v(s.txsr, ck("txsr", "exit of self-refresh to a command"));
    v(s.tsr, ck("tsr", "shortest self-refresh"));
    v(s.rail_1, Field{.name = "rail_1", .doc = "first supply"});
    v(s.rail_2, Field{.name = "rail_2", .doc = "second supply"});
    v(s.rail_3, Field{.name = "rail_3", .doc = "third supply, of the data pins"});
  }
};

/// What the controller does with a device.
struct ControllerConfig {
  std::string mapping = "row_bank_column_group", page_policy = "open", refresh = "all_bank";
  std::int32_t page_timeout = 200, window = 64, overtakes = 64, postpone = 4;
  std::int64_t power_down = 0, self_refresh = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.mapping,
      Field{.name = "mapping",
            .doc =
                "what of an address is the row, bank, column, from the top: row_bank_column_group, "
                "row_bank_column, row_column_bank, bank_row_column, row_xor_bank_column"});
    v(s.page_policy, Field{.name = "page_policy",
                           .doc = "when a row is closed: open (when another is wanted), closed "
                                  "(when nothing waits for it), timeout"});
    v(s.page_timeout, Field{.name = "page_timeout",
                            .doc = "timeout policy: unused for so long",
                            .unit = "tCK",
                            .min = 1,
                            .max = 1e6});
    v(s.refresh,
      Field{.name = "refresh", .doc = "all_bank, per_bank or none (of use in experiments alone)"});
    v(s.postpone, Field{.name = "postpone",
                        .doc = "all-bank refresh intervals that refreshing may be late while there "
                               "is work; the standards allow 8",
                        .min = 0,
                        .max = 7});
    v(s.window, Field{.name = "window",
                      .doc = "bursts that wait in the controller, out of which it chooses",
                      .min = 1,
                      .max = 1024});
    v(s.overtakes, Field{.name = "overtakes",
                         .doc = "younger bursts that may go before one that waits; 0: in order",
                         .min = 0,
                         .max = 65536});
    v(s.power_down, Field{.name = "power_down",
                          .doc = "idle for so long before power-down; 0: never",
                          .unit = "tCK",
                          .min = 0,
                          .max = 1e12});
    v(s.self_refresh, Field{.name = "self_refresh",
                            .doc = "idle for so long before self-refresh; 0: never",
                            .unit = "tCK",
                            .min = 0,
                            .max = 1e12});
  }
};

/// Reads configs/dram/*.yaml: every row has to be there, and the rows have to agree with each
/// other.
base::Result<Spec> load_spec(const std::string& path);

/// The first thing about device and controller that cannot be; where is the row's name.
base::Status check(const Spec& spec, const ControllerConfig& controller);

}  // namespace deputy::soc::dram
