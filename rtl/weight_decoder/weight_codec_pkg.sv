// Constants of the weight code, from arch/weight_codec.h.
package weight_codec_pkg;
  `include "weight_codec.svh"
endpackage
