// The rows of the DSP's instruction set: X(id, mnemonic, slot, format, operands, role of D, bytes
// of an element, latency class, meaning). An operation's number is its place among those of its
// slot, so new rows go to the end of their slot. Operands name a register file and a field
// (arch/dsp_isa.h).
#pragma once

// Scalar and control.
#define DEPUTY_DSP_OPS_S(X)                                                                        \
  X(kSAdd, "add", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A + B")                          \
  X(kSSub, "sub", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A - B")                          \
  X(kSAnd, "and", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A & B")                          \
  X(kSOr, "or", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A | B")                            \
  X(kSXor, "xor", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A ^ B")                          \
  X(kSShl, "shl", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A << (B mod 32)")                \
  X(kSShr, "shr", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar,                                       \
    "D = A >> (B mod 32), zeros shifted in")                                                       \
  X(kSSar, "sar", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar,                                       \
    "D = A >> (B mod 32), sign shifted in")                                                        \
  X(kSMin, "min", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = the smaller of A and B, signed") \
  X(kSMax, "max", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = the larger of A and B, signed")  \
  X(kSSlt, "slt", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A < B, signed")                  \
  X(kSSltu, "sltu", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A < B, unsigned")              \
  X(kSSeq, "seq", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A equals B")                     \
  X(kSAdds, "adds", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A + B, saturated")             \
  X(kSSubs, "subs", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar, "D = A - B, saturated")             \
  X(kSAddbr, "addbr", kS, kR3, "rD, rA, rB", kWrite, 0, kScalar,                                   \
    "D = A + B with the carry running from the top bit down: bit-reversed addressing")             \
  X(kSMul, "mul", kS, kR3, "rD, rA, rB", kWrite, 0, kScalarMul, "D = A * B, low half")             \
  X(kSMulh, "mulh", kS, kR3, "rD, rA, rB", kWrite, 0, kScalarMul, "D = A * B, high half, signed")  \
  X(kSMulr, "mulr", kS, kR3, "rD, rA, rB", kWrite, 0, kScalarMul,                                  \
    "D = A * B as Q31, rounded and saturated")                                                     \
  X(kSMadd, "madd", kS, kR3, "rD, rA, rB", kModify, 0, kScalarMul, "D = D + A * B, low half")      \
  X(kSDiv, "div", kS, kR3, "rD, rA, rB", kWrite, 0, kDivide,                                       \
    "D = A / B towards zero, signed; by 0: -1")                                                    \
  X(kSDivu, "divu", kS, kR3, "rD, rA, rB", kWrite, 0, kDivide,                                     \
    "D = A / B, unsigned; by 0: all ones")                                                         \
  X(kSRem, "rem", kS, kR3, "rD, rA, rB", kWrite, 0, kDivide, "D = A - A / B * B; by 0: A")         \
  X(kSIsqrt, "isqrt", kS, kR3, "rD, rA", kWrite, 0, kDivide,                                       \
    "D = the integer square root of A, unsigned, rounded down")                                    \
  X(kSAbs, "abs", kS, kR3, "rD, rA", kWrite, 0, kScalar, "D = |A|, saturated")                     \
  X(kSClz, "clz", kS, kR3, "rD, rA", kWrite, 0, kScalar, "D = leading zero bits of A; 32 for 0")   \
  X(kSBrev, "brev", kS, kR3, "rD, rA", kWrite, 0, kScalar, "D = the bits of A in reverse")         \
  X(kSSel, "sel", kS, kR4, "rD, rA, rB, rC", kWrite, 0, kScalar, "D = A where C is not 0, else B") \
  X(kSAddi, "addi", kS, kRI, "rD, rA, #I", kWrite, 0, kScalar, "D = A + I")                        \
  X(kSAndi, "andi", kS, kRI, "rD, rA, #I", kWrite, 0, kScalar, "D = A & I")                        \
  X(kSOri, "ori", kS, kRI, "rD, rA, #I", kWrite, 0, kScalar, "D = A | I")                          \
  X(kSShli, "shli", kS, kRI, "rD, rA, #I", kWrite, 0, kScalar, "D = A << (I mod 32)")              \
  X(kSShri, "shri", kS, kRI, "rD, rA, #I", kWrite, 0, kScalar,                                     \
    "D = A >> (I mod 32), zeros shifted in")                                                       \
  X(kSSari, "sari", kS, kRI, "rD, rA, #I", kWrite, 0, kScalar,                                     \
    "D = A >> (I mod 32), sign shifted in")                                                        \
  X(kSSlti, "slti", kS, kRI, "rD, rA, #I", kWrite, 0, kScalar, "D = A < I, signed")                \
  X(kSMuli, "muli", kS, kRI, "rD, rA, #I", kWrite, 0, kScalarMul, "D = A * I, low half")           \
  X(kSMovi, "movi", kS, kI16, "rD, #I", kWrite, 0, kScalar, "D = I")                               \
  X(kSMovhi, "movhi", kS, kI16, "rD, #I", kModify, 0, kScalar,                                     \
    "upper half of D = I, lower half kept")                                                        \
  X(kSBeq, "beq", kS, kBranch, "rA, rB, @I", kNone, 0, kControl, "branch if A = B")                \
  X(kSBne, "bne", kS, kBranch, "rA, rB, @I", kNone, 0, kControl, "branch if A is not B")           \
  X(kSBlt, "blt", kS, kBranch, "rA, rB, @I", kNone, 0, kControl, "branch if A < B, signed")        \
  X(kSBge, "bge", kS, kBranch, "rA, rB, @I", kNone, 0, kControl, "branch if A >= B, signed")       \
  X(kSBltu, "bltu", kS, kBranch, "rA, rB, @I", kNone, 0, kControl, "branch if A < B, unsigned")    \
  X(kSBgeu, "bgeu", kS, kBranch, "rA, rB, @I", kNone, 0, kControl, "branch if A >= B, unsigned")   \
  X(kSJmp, "jmp", kS, kJump, "@I", kNone, 0, kControl, "jump")                                     \
  X(kSCall, "call", kS, kJump, "@I", kNone, 0, kControl, "r31 = the word after this packet; jump") \
  X(kSJr, "jr", kS, kR3, "rA", kNone, 0, kControl, "jump to the word whose number is in A")        \
  X(kSLoop, "loop", kS, kLoop, "#D, rA, @I", kNone, 0, kControl,                                   \
    "repeat from the next packet up to the target A times, unsigned; 0 times: jump to the target") \
  X(kSLoopi, "loopi", kS, kLoopI, "#D, #A, @I", kNone, 0, kControl, "as loop, with a constant")    \
  X(kSEndloop, "endloop", kS, kControl, "#D", kNone, 0, kControl,                                  \
    "leave the loops of this level and above: needed where a branch leaves a loop")                \
  X(kSMtc, "mtc", kS, kControl, "cI, rD", kRead, 0, kControl, "control register = D")              \
  X(kSMfc, "mfc", kS, kControl, "rD, cI", kWrite, 0, kScalar, "D = control register")              \
  X(kSHalt, "halt", kS, kNone, "", kNone, 0, kControl, "the program is done")                      \
  X(kSWait, "wait", kS, kControl, "#I", kNone, 0, kControl,                                        \
    "wait until an event of the mask I is pending: 1 mail, 2 DMA, 4 host")                         \
  X(kSRti, "rti", kS, kNone, "", kNone, 0, kControl, "return from an interrupt handler")           \
  X(kSTrap, "trap", kS, kControl, "#I", kNone, 0, kControl,                                        \
    "stop with the fault `trap` and the number I")

// Vector ALU.
#define DEPUTY_DSP_OPS_A(X)                                                                        \
  X(kAVaddB, "vadd.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = A + B, wrapping, int8")    \
  X(kAVaddH, "vadd.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector, "D = A + B, wrapping, int16")   \
  X(kAVaddW, "vadd.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector, "D = A + B, wrapping, int32")   \
  X(kAVsubB, "vsub.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = A - B, wrapping, int8")    \
  X(kAVsubH, "vsub.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector, "D = A - B, wrapping, int16")   \
  X(kAVsubW, "vsub.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector, "D = A - B, wrapping, int32")   \
  X(kAVaddsB, "vadds.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = A + B, saturated, int8") \
  X(kAVaddsH, "vadds.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector,                               \
    "D = A + B, saturated, int16")                                                                 \
  X(kAVaddsW, "vadds.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector,                               \
    "D = A + B, saturated, int32")                                                                 \
  X(kAVsubsB, "vsubs.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = A - B, saturated, int8") \
  X(kAVsubsH, "vsubs.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector,                               \
    "D = A - B, saturated, int16")                                                                 \
  X(kAVsubsW, "vsubs.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector,                               \
    "D = A - B, saturated, int32")                                                                 \
  X(kAVavgB, "vavg.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = (A + B + 1) >> 1, int8")   \
  X(kAVavgH, "vavg.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector, "D = (A + B + 1) >> 1, int16")  \
  X(kAVavgW, "vavg.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector, "D = (A + B + 1) >> 1, int32")  \
  X(kAVnavgB, "vnavg.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector,                               \
    "D = (A - B + 1) >> 1, saturated, int8")                                                       \
  X(kAVnavgH, "vnavg.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector,                               \
    "D = (A - B + 1) >> 1, saturated, int16")                                                      \
  X(kAVnavgW, "vnavg.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector,                               \
    "D = (A - B + 1) >> 1, saturated, int32")                                                      \
  X(kAVminB, "vmin.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector,                                 \
    "D = the smaller of A and B, int8")                                                            \
  X(kAVminH, "vmin.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector,                                 \
    "D = the smaller of A and B, int16")                                                           \
  X(kAVminW, "vmin.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector,                                 \
    "D = the smaller of A and B, int32")                                                           \
  X(kAVmaxB, "vmax.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector,                                 \
    "D = the larger of A and B, int8")                                                             \
  X(kAVmaxH, "vmax.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector,                                 \
    "D = the larger of A and B, int16")                                                            \
  X(kAVmaxW, "vmax.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector,                                 \
    "D = the larger of A and B, int32")                                                            \
  X(kAVadduB, "vaddu.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector,                               \
    "D = A + B, saturated, uint8")                                                                 \
  X(kAVsubuB, "vsubu.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector,                               \
    "D = A - B, saturated, uint8")                                                                 \
  X(kAVminuB, "vminu.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector,                               \
    "D = the smaller of A and B, uint8")                                                           \
  X(kAVmaxuB, "vmaxu.b", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector,                               \
    "D = the larger of A and B, uint8")                                                            \
  X(kAVand, "vand", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = A & B")                       \
  X(kAVor, "vor", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = A | B")                         \
  X(kAVxor, "vxor", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = A ^ B")                       \
  X(kAVandn, "vandn", kA, kR3P, "vD, vA, vB", kWrite, 1, kVector, "D = A & ~B")                    \
  X(kAVmov, "vmov", kA, kR3P, "vD, vA", kWrite, 1, kVector, "D = A")                               \
  X(kAVabsB, "vabs.b", kA, kR3P, "vD, vA", kWrite, 1, kVector, "D = |A|, saturated, int8")         \
  X(kAVabsH, "vabs.h", kA, kR3P, "vD, vA", kWrite, 2, kVector, "D = |A|, saturated, int16")        \
  X(kAVabsW, "vabs.w", kA, kR3P, "vD, vA", kWrite, 4, kVector, "D = |A|, saturated, int32")        \
  X(kAVnegB, "vneg.b", kA, kR3P, "vD, vA", kWrite, 1, kVector, "D = -A, saturated, int8")          \
  X(kAVnegH, "vneg.h", kA, kR3P, "vD, vA", kWrite, 2, kVector, "D = -A, saturated, int16")         \
  X(kAVnegW, "vneg.w", kA, kR3P, "vD, vA", kWrite, 4, kVector, "D = -A, saturated, int32")         \
  X(kAVclzH, "vclz.h", kA, kR3P, "vD, vA", kWrite, 2, kVector,                                     \
    "D = leading zero bits of A, int16")                                                           \
  X(kAVclzW, "vclz.w", kA, kR3P, "vD, vA", kWrite, 4, kVector,                                     \
    "D = leading zero bits of A, int32")                                                           \
  X(kAVshlH, "vshl.h", kA, kR3P, "vD, vA, rB", kWrite, 2, kVector,                                 \
    "D = A << n; n = B mod 16, int16")                                                             \
  X(kAVshlW, "vshl.w", kA, kR3P, "vD, vA, rB", kWrite, 4, kVector,                                 \
    "D = A << n; n = B mod 32, int32")                                                             \
  X(kAVshrH, "vshr.h", kA, kR3P, "vD, vA, rB", kWrite, 2, kVector,                                 \
    "D = A >> n, zeros shifted in; n = B mod 16, int16")                                           \
  X(kAVshrW, "vshr.w", kA, kR3P, "vD, vA, rB", kWrite, 4, kVector,                                 \
    "D = A >> n, zeros shifted in; n = B mod 32, int32")                                           \
  X(kAVsarH, "vsar.h", kA, kR3P, "vD, vA, rB", kWrite, 2, kVector,                                 \
    "D = A >> n, sign shifted in; n = B mod 16, int16")                                            \
  X(kAVsarW, "vsar.w", kA, kR3P, "vD, vA, rB", kWrite, 4, kVector,                                 \
    "D = A >> n, sign shifted in; n = B mod 32, int32")                                            \
  X(kAVrsarH, "vrsar.h", kA, kR3P, "vD, vA, rB", kWrite, 2, kVector,                               \
    "D = A >> n, sign shifted in, rounded (half up); n = B mod 16, int16")                         \
  X(kAVrsarW, "vrsar.w", kA, kR3P, "vD, vA, rB", kWrite, 4, kVector,                               \
    "D = A >> n, sign shifted in, rounded (half up); n = B mod 32, int32")                         \
  X(kAVshlsH, "vshls.h", kA, kR3P, "vD, vA, rB", kWrite, 2, kVector,                               \
    "D = A << n, saturated; n = B mod 16, int16")                                                  \
  X(kAVshlsW, "vshls.w", kA, kR3P, "vD, vA, rB", kWrite, 4, kVector,                               \
    "D = A << n, saturated; n = B mod 32, int32")                                                  \
  X(kAVshliH, "vshli.h", kA, kVI, "vD, vA, #I", kWrite, 2, kVector,                                \
    "D = A << n; n = I mod 16, int16")                                                             \
  X(kAVshliW, "vshli.w", kA, kVI, "vD, vA, #I", kWrite, 4, kVector,                                \
    "D = A << n; n = I mod 32, int32")                                                             \
  X(kAVshriB, "vshri.b", kA, kVI, "vD, vA, #I", kWrite, 1, kVector,                                \
    "D = A >> n, zeros shifted in; n = I mod 8, int8")                                             \
  X(kAVshriH, "vshri.h", kA, kVI, "vD, vA, #I", kWrite, 2, kVector,                                \
    "D = A >> n, zeros shifted in; n = I mod 16, int16")                                           \
  X(kAVshriW, "vshri.w", kA, kVI, "vD, vA, #I", kWrite, 4, kVector,                                \
    "D = A >> n, zeros shifted in; n = I mod 32, int32")                                           \
  X(kAVsariB, "vsari.b", kA, kVI, "vD, vA, #I", kWrite, 1, kVector,                                \
    "D = A >> n, sign shifted in; n = I mod 8, int8")                                              \
  X(kAVsariH, "vsari.h", kA, kVI, "vD, vA, #I", kWrite, 2, kVector,                                \
    "D = A >> n, sign shifted in; n = I mod 16, int16")                                            \
  X(kAVsariW, "vsari.w", kA, kVI, "vD, vA, #I", kWrite, 4, kVector,                                \
    "D = A >> n, sign shifted in; n = I mod 32, int32")                                            \
  X(kAVrsariH, "vrsari.h", kA, kVI, "vD, vA, #I", kWrite, 2, kVector,                              \
    "D = A >> n, sign shifted in, rounded (half up); n = I mod 16, int16")                         \
  X(kAVrsariW, "vrsari.w", kA, kVI, "vD, vA, #I", kWrite, 4, kVector,                              \
    "D = A >> n, sign shifted in, rounded (half up); n = I mod 32, int32")                         \
  X(kAVshlsiH, "vshlsi.h", kA, kVI, "vD, vA, #I", kWrite, 2, kVector,                              \
    "D = A << n, saturated; n = I mod 16, int16")                                                  \
  X(kAVshlsiW, "vshlsi.w", kA, kVI, "vD, vA, #I", kWrite, 4, kVector,                              \
    "D = A << n, saturated; n = I mod 32, int32")                                                  \
  X(kAVshlvH, "vshlv.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector,                               \
    "D = A << n; n = B mod 16 lane by lane, int16")                                                \
  X(kAVshlvW, "vshlv.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector,                               \
    "D = A << n; n = B mod 32 lane by lane, int32")                                                \
  X(kAVsarvH, "vsarv.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector,                               \
    "D = A >> n, sign shifted in; n = B mod 16 lane by lane, int16")                               \
  X(kAVsarvW, "vsarv.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector,                               \
    "D = A >> n, sign shifted in; n = B mod 32 lane by lane, int32")                               \
  X(kAVrsarvH, "vrsarv.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kVector,                             \
    "D = A >> n, sign shifted in, rounded (half up); n = B mod 16 lane by lane, int16")            \
  X(kAVrsarvW, "vrsarv.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kVector,                             \
    "D = A >> n, sign shifted in, rounded (half up); n = B mod 32 lane by lane, int32")            \
  X(kAVcmpeqB, "vcmpeq.b", kA, kR3, "mD, vA, vB", kWrite, 1, kVector, "D = A equals B, int8")      \
  X(kAVcmpeqH, "vcmpeq.h", kA, kR3, "mD, vA, vB", kWrite, 2, kVector, "D = A equals B, int16")     \
  X(kAVcmpeqW, "vcmpeq.w", kA, kR3, "mD, vA, vB", kWrite, 4, kVector, "D = A equals B, int32")     \
  X(kAVcmpgtB, "vcmpgt.b", kA, kR3, "mD, vA, vB", kWrite, 1, kVector, "D = A > B, int8")           \
  X(kAVcmpgtH, "vcmpgt.h", kA, kR3, "mD, vA, vB", kWrite, 2, kVector, "D = A > B, int16")          \
  X(kAVcmpgtW, "vcmpgt.w", kA, kR3, "mD, vA, vB", kWrite, 4, kVector, "D = A > B, int32")          \
  X(kAVcmpgtuB, "vcmpgtu.b", kA, kR3, "mD, vA, vB", kWrite, 1, kVector, "D = A > B, uint8")        \
  X(kAMand, "mand", kA, kR3, "mD, mA, mB", kWrite, 0, kVector, "D = A & B")                        \
  X(kAMor, "mor", kA, kR3, "mD, mA, mB", kWrite, 0, kVector, "D = A | B")                          \
  X(kAMxor, "mxor", kA, kR3, "mD, mA, mB", kWrite, 0, kVector, "D = A ^ B")                        \
  X(kAMandn, "mandn", kA, kR3, "mD, mA, mB", kWrite, 0, kVector, "D = A & ~B")                     \
  X(kAMtail, "mtail", kA, kR3, "mD, rA", kWrite, 0, kVector,                                       \
    "D = the first A bytes (unsigned, at most 128)")                                               \
  X(kAMcount, "mcount", kA, kR3, "rD, mA", kWrite, 0, kReduce, "D = bytes that are set in A")      \
  X(kAVsplatB, "vsplat.b", kA, kR3P, "vD, rA", kWrite, 1, kPermute, "every lane of D = A, int8")   \
  X(kAVsplatH, "vsplat.h", kA, kR3P, "vD, rA", kWrite, 2, kPermute, "every lane of D = A, int16")  \
  X(kAVsplatW, "vsplat.w", kA, kR3P, "vD, rA", kWrite, 4, kPermute, "every lane of D = A, int32")  \
  X(kAViotaB, "viota.b", kA, kR3P, "vD", kWrite, 1, kVector, "D = 0, 1, 2, ..., int8")             \
  X(kAViotaH, "viota.h", kA, kR3P, "vD", kWrite, 2, kVector, "D = 0, 1, 2, ..., int16")            \
  X(kAViotaW, "viota.w", kA, kR3P, "vD", kWrite, 4, kVector, "D = 0, 1, 2, ..., int32")            \
  X(kAVextB, "vext.b", kA, kR3, "rD, vA, rB", kWrite, 1, kReduce,                                  \
    "D = lane B (modulo the lanes) of A, sign-extended, int8")                                     \
  X(kAVextH, "vext.h", kA, kR3, "rD, vA, rB", kWrite, 2, kReduce,                                  \
    "D = lane B (modulo the lanes) of A, sign-extended, int16")                                    \
  X(kAVextW, "vext.w", kA, kR3, "rD, vA, rB", kWrite, 4, kReduce,                                  \
    "D = lane B (modulo the lanes) of A, sign-extended, int32")                                    \
  X(kAVinsB, "vins.b", kA, kR3, "vD, rA, rB", kModify, 1, kPermute,                                \
    "lane B (modulo the lanes) of D = A, int8")                                                    \
  X(kAVinsH, "vins.h", kA, kR3, "vD, rA, rB", kModify, 2, kPermute,                                \
    "lane B (modulo the lanes) of D = A, int16")                                                   \
  X(kAVinsW, "vins.w", kA, kR3, "vD, rA, rB", kModify, 4, kPermute,                                \
    "lane B (modulo the lanes) of D = A, int32")                                                   \
  X(kAVlaneH, "vlane.h", kA, kR3P, "vD, vA, rB", kWrite, 2, kPermute,                              \
    "every lane of D = lane B (modulo the lanes) of A, int16")                                     \
  X(kAVlaneW, "vlane.w", kA, kR3P, "vD, vA, rB", kWrite, 4, kPermute,                              \
    "every lane of D = lane B (modulo the lanes) of A, int32")                                     \
  X(kAVzip, "vzip", kA, kR3I, "VD, vA, vB, #I", kWrite, 0, kPermute,                               \
    "D and the next = elements of 2^I bytes (I mod 8) of A and B in turn")                         \
  X(kAVunzip, "vunzip", kA, kR3I, "VD, vA, vB, #I", kWrite, 0, kPermute,                           \
    "D = even, the next = odd elements of 2^I bytes (I mod 8) of A and then B")                    \
  X(kAValign, "valign", kA, kR4, "vD, vA, vB, rC", kWrite, 0, kPermute,                            \
    "D = 128 bytes of A and then B, from byte C mod 128")                                          \
  X(kAValigni, "valigni", kA, kR3I, "vD, vA, vB, #I", kWrite, 0, kPermute,                         \
    "D = 128 bytes of A and then B, from byte I")                                                  \
  X(kAVperm, "vperm", kA, kR3P, "vD, vA, vB", kWrite, 1, kPermute,                                 \
    "byte i of D = byte B[i] mod 128 of A")                                                        \
  X(kAVlutB, "vlut.b", kA, kR3P, "vD, VA, vB", kWrite, 1, kPermute,                                \
    "byte i of D = byte B[i] + 128 of the 256 bytes of A and the next; B as int8")                 \
  X(kAVpackWH, "vpack.w", kA, kR3P, "vD, vA, vB", kWrite, 4, kPermute,                             \
    "D = A and then B as int16, saturated from int32")                                             \
  X(kAVpackHB, "vpack.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kPermute,                             \
    "D = A and then B as int8, saturated from int16")                                              \
  X(kAVpackuHB, "vpacku.h", kA, kR3P, "vD, vA, vB", kWrite, 2, kPermute,                           \
    "D = A and then B as uint8, saturated from int16")                                             \
  X(kAVunpkB, "vunpk.b", kA, kR3, "VD, vA", kWrite, 1, kPermute,                                   \
    "D and the next = A widened, int8 to int16")                                                   \
  X(kAVunpkH, "vunpk.h", kA, kR3, "VD, vA", kWrite, 2, kPermute,                                   \
    "D and the next = A widened, int16 to int32")                                                  \
  X(kAVunpkuB, "vunpku.b", kA, kR3, "VD, vA", kWrite, 1, kPermute,                                 \
    "D and the next = A widened, uint8 to int16")                                                  \
  X(kAVunpkuH, "vunpku.h", kA, kR3, "VD, vA", kWrite, 2, kPermute,                                 \
    "D and the next = A widened, uint16 to int32")                                                 \
  X(kAVbflyH, "vbfly.h", kA, kR3, "VD, vA, vB", kWrite, 2, kVector,                                \
    "D = (A + B + 1) >> 1, the next = (A - B + 1) >> 1, saturated, int16")                         \
  X(kAVnarH, "vnar.h", kA, kVI, "vD, aA, #I", kWrite, 2, kVector,                                  \
    "D = 64 sums of 32 bits >> (I mod 32), rounded (half up), saturated to int16")                 \
  X(kAVnarW, "vnar.w", kA, kVI, "vD, aA, #I", kWrite, 4, kVector,                                  \
    "D = 32 sums of 64 bits >> I, rounded (half up), saturated to int32")                          \
  X(kAVnarrH, "vnarr.h", kA, kR3P, "vD, aA, rB", kWrite, 2, kVector,                               \
    "as vnar.h, shifted by B mod 32")                                                              \
  X(kAVnarrW, "vnarr.w", kA, kR3P, "vD, aA, rB", kWrite, 4, kVector,                               \
    "as vnar.w, shifted by B mod 64")                                                              \
  X(kAVnarvW, "vnarv.w", kA, kR3P, "vD, aA, vB", kWrite, 4, kVector,                               \
    "as vnar.w, lane by lane shifted by B mod 64")                                                 \
  X(kAVmova, "vmova", kA, kVI, "vD, aA, #I", kWrite, 4, kVector,                                   \
    "D = the lower (I = 0) or upper (1) 32 sums of 32 bits; I mod 2")                              \
  X(kAVredaddB, "vredadd.b", kA, kR3, "rD, vA", kWrite, 1, kReduce,                                \
    "D = sum of the lanes, wrapping, int8")                                                        \
  X(kAVredaddH, "vredadd.h", kA, kR3, "rD, vA", kWrite, 2, kReduce,                                \
    "D = sum of the lanes, wrapping, int16")                                                       \
  X(kAVredaddW, "vredadd.w", kA, kR3, "rD, vA", kWrite, 4, kReduce,                                \
    "D = sum of the lanes, wrapping, int32")                                                       \
  X(kAVredmaxB, "vredmax.b", kA, kR3, "rD, vA", kWrite, 1, kReduce, "D = largest lane, int8")      \
  X(kAVredmaxH, "vredmax.h", kA, kR3, "rD, vA", kWrite, 2, kReduce, "D = largest lane, int16")     \
  X(kAVredmaxW, "vredmax.w", kA, kR3, "rD, vA", kWrite, 4, kReduce, "D = largest lane, int32")     \
  X(kAVredminB, "vredmin.b", kA, kR3, "rD, vA", kWrite, 1, kReduce, "D = smallest lane, int8")     \
  X(kAVredminH, "vredmin.h", kA, kR3, "rD, vA", kWrite, 2, kReduce, "D = smallest lane, int16")    \
  X(kAVredminW, "vredmin.w", kA, kR3, "rD, vA", kWrite, 4, kReduce, "D = smallest lane, int32")

// Multiply-accumulate. Sums of .h are 64 of 32 bits, of .w 32 of 64 bits; both wrap.
#define DEPUTY_DSP_OPS_M(X)                                                                     \
  X(kMVmpyH, "vmpy.h", kM, kR3, "aD, vA, vB", kWrite, 2, kMac, "D = A * B, int16")              \
  X(kMVmpysH, "vmpys.h", kM, kR3, "aD, vA, rB", kWrite, 2, kMac,                                \
    "D = A * B, the scalar in every lane, int16")                                               \
  X(kMVmpylH, "vmpyl.h", kM, kR3I, "aD, vA, vB, #I", kWrite, 2, kMac,                           \
    "D = A * B, lane I (modulo the lanes) of B in every lane, int16")                           \
  X(kMVmpyrH, "vmpyr.h", kM, kR4, "aD, vA, vB, rC", kWrite, 2, kMac,                            \
    "D = A * B, lane C (modulo the lanes) of B in every lane, int16")                           \
  X(kMVmacH, "vmac.h", kM, kR3, "aD, vA, vB", kModify, 2, kMac, "D = D + A * B, int16")         \
  X(kMVmacsH, "vmacs.h", kM, kR3, "aD, vA, rB", kModify, 2, kMac,                               \
    "D = D + A * B, the scalar in every lane, int16")                                           \
  X(kMVmaclH, "vmacl.h", kM, kR3I, "aD, vA, vB, #I", kModify, 2, kMac,                          \
    "D = D + A * B, lane I (modulo the lanes) of B in every lane, int16")                       \
  X(kMVmacrH, "vmacr.h", kM, kR4, "aD, vA, vB, rC", kModify, 2, kMac,                           \
    "D = D + A * B, lane C (modulo the lanes) of B in every lane, int16")                       \
  X(kMVmsuH, "vmsu.h", kM, kR3, "aD, vA, vB", kModify, 2, kMac, "D = D - A * B, int16")         \
  X(kMVmsusH, "vmsus.h", kM, kR3, "aD, vA, rB", kModify, 2, kMac,                               \
    "D = D - A * B, the scalar in every lane, int16")                                           \
  X(kMVmsulH, "vmsul.h", kM, kR3I, "aD, vA, vB, #I", kModify, 2, kMac,                          \
    "D = D - A * B, lane I (modulo the lanes) of B in every lane, int16")                       \
  X(kMVmsurH, "vmsur.h", kM, kR4, "aD, vA, vB, rC", kModify, 2, kMac,                           \
    "D = D - A * B, lane C (modulo the lanes) of B in every lane, int16")                       \
  X(kMVmpyW, "vmpy.w", kM, kR3, "aD, vA, vB", kWrite, 4, kMac, "D = A * B, int32")              \
  X(kMVmpysW, "vmpys.w", kM, kR3, "aD, vA, rB", kWrite, 4, kMac,                                \
    "D = A * B, the scalar in every lane, int32")                                               \
  X(kMVmpylW, "vmpyl.w", kM, kR3I, "aD, vA, vB, #I", kWrite, 4, kMac,                           \
    "D = A * B, lane I (modulo the lanes) of B in every lane, int32")                           \
  X(kMVmpyrW, "vmpyr.w", kM, kR4, "aD, vA, vB, rC", kWrite, 4, kMac,                            \
    "D = A * B, lane C (modulo the lanes) of B in every lane, int32")                           \
  X(kMVmacW, "vmac.w", kM, kR3, "aD, vA, vB", kModify, 4, kMac, "D = D + A * B, int32")         \
  X(kMVmacsW, "vmacs.w", kM, kR3, "aD, vA, rB", kModify, 4, kMac,                               \
    "D = D + A * B, the scalar in every lane, int32")                                           \
  X(kMVmaclW, "vmacl.w", kM, kR3I, "aD, vA, vB, #I", kModify, 4, kMac,                          \
    "D = D + A * B, lane I (modulo the lanes) of B in every lane, int32")                       \
  X(kMVmacrW, "vmacr.w", kM, kR4, "aD, vA, vB, rC", kModify, 4, kMac,                           \
    "D = D + A * B, lane C (modulo the lanes) of B in every lane, int32")                       \
  X(kMVmsuW, "vmsu.w", kM, kR3, "aD, vA, vB", kModify, 4, kMac, "D = D - A * B, int32")         \
  X(kMVmsusW, "vmsus.w", kM, kR3, "aD, vA, rB", kModify, 4, kMac,                               \
    "D = D - A * B, the scalar in every lane, int32")                                           \
  X(kMVmsulW, "vmsul.w", kM, kR3I, "aD, vA, vB, #I", kModify, 4, kMac,                          \
    "D = D - A * B, lane I (modulo the lanes) of B in every lane, int32")                       \
  X(kMVmsurW, "vmsur.w", kM, kR4, "aD, vA, vB, rC", kModify, 4, kMac,                           \
    "D = D - A * B, lane C (modulo the lanes) of B in every lane, int32")                       \
  X(kMVdotzB, "vdotz.b", kM, kR3, "aD, vA, vB", kWrite, 1, kMac,                                \
    "the lower 32 sums of 32 bits of D = four products of int8 of each 4 bytes; the upper = 0") \
  X(kMVdotzlB, "vdotzl.b", kM, kR3I, "aD, vA, vB, #I", kWrite, 1, kMac,                         \
    "as vdotz.b, with the 4 bytes I mod 32 of B in every lane")                                 \
  X(kMVdotzrB, "vdotzr.b", kM, kR4, "aD, vA, vB, rC", kWrite, 1, kMac,                          \
    "as vdotz.b, with the 4 bytes C mod 32 of B in every lane")                                 \
  X(kMVdotB, "vdot.b", kM, kR3, "aD, vA, vB", kModify, 1, kMac,                                 \
    "the lower 32 sums of 32 bits of D = D + four products of int8 of each 4 bytes")            \
  X(kMVdotlB, "vdotl.b", kM, kR3I, "aD, vA, vB, #I", kModify, 1, kMac,                          \
    "as vdot.b, with the 4 bytes I mod 32 of B in every lane")                                  \
  X(kMVdotrB, "vdotr.b", kM, kR4, "aD, vA, vB, rC", kModify, 1, kMac,                           \
    "as vdot.b, with the 4 bytes C mod 32 of B in every lane")                                  \
  X(kMVdotzH, "vdotz.h", kM, kR3, "aD, vA, vB", kWrite, 2, kMac,                                \
    "the lower 32 sums of 32 bits of D = two products of int16 of each 4 bytes; the upper = 0") \
  X(kMVdotzlH, "vdotzl.h", kM, kR3I, "aD, vA, vB, #I", kWrite, 2, kMac,                         \
    "as vdotz.h, with the 4 bytes I mod 32 of B in every lane")                                 \
  X(kMVdotzrH, "vdotzr.h", kM, kR4, "aD, vA, vB, rC", kWrite, 2, kMac,                          \
    "as vdotz.h, with the 4 bytes C mod 32 of B in every lane")                                 \
  X(kMVdotH, "vdot.h", kM, kR3, "aD, vA, vB", kModify, 2, kMac,                                 \
    "the lower 32 sums of 32 bits of D = D + two products of int16 of each 4 bytes")            \
  X(kMVdotlH, "vdotl.h", kM, kR3I, "aD, vA, vB, #I", kModify, 2, kMac,                          \
    "as vdot.h, with the 4 bytes I mod 32 of B in every lane")                                  \
  X(kMVdotrH, "vdotr.h", kM, kR4, "aD, vA, vB, rC", kModify, 2, kMac,                           \
    "as vdot.h, with the 4 bytes C mod 32 of B in every lane")                                  \
  X(kMVacz, "vacz", kM, kR3, "aD", kWrite, 0, kMac, "D = 0")                                    \
  X(kMVacw, "vacw", kM, kR3, "aD, vA", kWrite, 4, kMac,                                         \
    "lower 32 sums of 32 bits of D = A, upper = 0")                                             \
  X(kMVach, "vach", kM, kR3I, "aD, vA, #I", kWrite, 2, kMac,                                    \
    "64 sums of 32 bits of D = A << (I mod 32), int16")                                         \
  X(kMVacq, "vacq", kM, kR3I, "aD, vA, #I", kWrite, 4, kMac,                                    \
    "32 sums of 64 bits of D = A << (I mod 64), int32")                                         \
  X(kMVmulH, "vmul.h", kM, kR3P, "vD, vA, vB", kWrite, 2, kMac, "D = A * B, low half, int16")   \
  X(kMVmulW, "vmul.w", kM, kR3P, "vD, vA, vB", kWrite, 4, kMac, "D = A * B, low half, int32")   \
  X(kMVmulqH, "vmulq.h", kM, kR3P, "vD, vA, vB", kWrite, 2, kMac,                               \
    "D = A * B, rounded and saturated, Q15")                                                    \
  X(kMVmulqsH, "vmulqs.h", kM, kR3P, "vD, vA, rB", kWrite, 2, kMac,                             \
    "D = A * the scalar, rounded and saturated, Q15")                                           \
  X(kMVmulqW, "vmulq.w", kM, kR3P, "vD, vA, vB", kWrite, 4, kMac,                               \
    "D = A * B, rounded and saturated, Q31")                                                    \
  X(kMVmulqsW, "vmulqs.w", kM, kR3P, "vD, vA, rB", kWrite, 4, kMac,                             \
    "D = A * the scalar, rounded and saturated, Q31")                                           \
  X(kMVcmulH, "vcmul.h", kM, kR3P, "vD, vA, vB", kWrite, 4, kMac,                               \
    "D = A * B, 32 complex numbers (real part first) of Q15, rounded and saturated")            \
  X(kMVcmulcH, "vcmulc.h", kM, kR3P, "vD, vA, vB", kWrite, 4, kMac,                             \
    "D = A * conjugate of B, 32 complex numbers of Q15, rounded and saturated")

// Load and store. The constant of an address counts accesses of this size.
#define DEPUTY_DSP_OPS_L(X)                                                                      \
  X(kLLdw, "ldw", kL, kMem, "rD, [A]", kWrite, 4, kLoad, "load word")                            \
  X(kLLdh, "ldh", kL, kMem, "rD, [A]", kWrite, 2, kLoad, "load int16")                           \
  X(kLLdhu, "ldhu", kL, kMem, "rD, [A]", kWrite, 2, kLoad, "load uint16")                        \
  X(kLLdb, "ldb", kL, kMem, "rD, [A]", kWrite, 1, kLoad, "load int8")                            \
  X(kLLdbu, "ldbu", kL, kMem, "rD, [A]", kWrite, 1, kLoad, "load uint8")                         \
  X(kLStw, "stw", kL, kMem, "rD, [A]", kRead, 4, kStore, "store word")                           \
  X(kLSth, "sth", kL, kMem, "rD, [A]", kRead, 2, kStore, "store low 16 bits")                    \
  X(kLStb, "stb", kL, kMem, "rD, [A]", kRead, 1, kStore, "store low 8 bits")                     \
  X(kLLdwbr, "ldwbr", kL, kR3, "rD, [A], rB", kWrite, 4, kLoad,                                  \
    "load word; A = A + B with the carry running from the top bit down")                         \
  X(kLStwbr, "stwbr", kL, kR3, "rD, [A], rB", kRead, 4, kStore,                                  \
    "store word; A = A + B with the carry running from the top bit down")                        \
  X(kLVld, "vld", kL, kMem, "vD, [A]", kWrite, 128, kLoad, "load vector, aligned to 128 bytes")  \
  X(kLVst, "vst", kL, kMem, "vD, [A]", kRead, 128, kStore, "store vector, aligned to 128 bytes") \
  X(kLVldu, "vldu", kL, kMem, "vD, [A]", kWrite, 128, kLoad, "load vector from any address")     \
  X(kLVstu, "vstu", kL, kMem, "vD, [A]", kRead, 128, kStore, "store vector to any address")      \
  X(kLVldm, "vldm", kL, kMemP, "vD, [A]", kWrite, 128, kLoad,                                    \
    "load vector from any address; bytes that the predicate excludes are not accessed")          \
  X(kLVstm, "vstm", kL, kMemP, "vD, [A]", kRead, 128, kStore,                                    \
    "store vector to any address; bytes that the predicate excludes are not accessed")           \
  X(kLVldsB, "vlds.b", kL, kMem, "vD, [A]", kWrite, 1, kLoad,                                    \
    "load one element into every lane, int8")                                                    \
  X(kLVldsH, "vlds.h", kL, kMem, "vD, [A]", kWrite, 2, kLoad,                                    \
    "load one element into every lane, int16")                                                   \
  X(kLVldsW, "vlds.w", kL, kMem, "vD, [A]", kWrite, 4, kLoad,                                    \
    "load one element into every lane, int32")                                                   \
  X(kLVgathH, "vgath.h", kL, kR3P, "vD, [A], vB", kWrite, 2, kGather,                            \
    "lane i of D = the element at A + B[i] bytes; B as uint16, address modulo 2^32")             \
  X(kLVscatH, "vscat.h", kL, kR3P, "vD, [A], vB", kRead, 2, kStore,                              \
    "the element at A + B[i] bytes = lane i of D, in order of the lanes; B as uint16, address "  \
    "modulo 2^32")                                                                               \
  X(kLVgathW, "vgath.w", kL, kR3P, "vD, [A], vB", kWrite, 4, kGather,                            \
    "lane i of D = the element at A + B[i] bytes; B as int32, address modulo 2^32")              \
  X(kLVscatW, "vscat.w", kL, kR3P, "vD, [A], vB", kRead, 4, kStore,                              \
    "the element at A + B[i] bytes = lane i of D, in order of the lanes; B as int32, address "   \
    "modulo 2^32")

#define DEPUTY_DSP_OPS(X) \
  DEPUTY_DSP_OPS_S(X) DEPUTY_DSP_OPS_A(X) DEPUTY_DSP_OPS_M(X) DEPUTY_DSP_OPS_L(X)
