// Reflection of a struct's fields: list them once, let visitors do the rest.
//
//   struct Params {
//     std::int32_t oc_lanes = 8;
//     template <class Self, class V> static void fields(Self& s, V&& v) {
//       v(s.oc_lanes, base::Field{.name = "oc_lanes", .doc = "output-channel lanes", .min = 1, .max
//       = 256});
//     }
//   };
//
// A visitor is called with a reference to each member and its Field. A member that itself has
// fields() is a group: visitors recurse into it under its name.
#pragma once

#include <cstdint>

namespace deputy::base {

struct Field {
  const char* name = "";
  const char* doc = "";
  const char* unit = "";   ///< "cycles", "bytes", "pJ", ...; empty for a plain number
  int bits = 0;            ///< width in an encoding; 0 where there is none
  bool is_signed = false;  ///< two's complement in an encoding
  double min = -9.2e18;    ///< inclusive range of legal values
  double max = 9.2e18;
  bool implied = false;  ///< an encoding may leave it out: it then follows from the other fields
};

template <class T>
concept HasFields = requires(T& t) {
  T::fields(t, [](auto&, const Field&) {});
};

}  // namespace deputy::base
