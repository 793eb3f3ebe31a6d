// 16-bit floats as bits: IEEE binary16 and bfloat16.
#ifndef RLC_IR_FLOAT16_H_
#define RLC_IR_FLOAT16_H_

#include <cstdint>

namespace rlc {

// Exact.
float Float16ToFloat(uint16_t bits);
float BFloat16ToFloat(uint16_t bits);

// Rounded once, to nearest even, from the double itself (by way of float it would be rounded twice). Too large:
// infinity.
uint16_t DoubleToFloat16(double value);
uint16_t DoubleToBFloat16(double value);

}  // namespace rlc

#endif  // RLC_IR_FLOAT16_H_
