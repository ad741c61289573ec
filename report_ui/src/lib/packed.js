/** The numbers of tools/html/packed.h: LEB128 varints in base64. Exact up to 2^53. */
export function unpack(text) {
  const raw = atob(text);
  const numbers = [];
  let value = 0;
  let factor = 1;
  for (let i = 0; i < raw.length; ++i) {
    const byte = raw.charCodeAt(i);
    value += (byte & 127) * factor;
    if (byte & 128) {
      factor *= 128;
    } else {
      numbers.push(value);
      value = 0;
      factor = 1;
    }
  }
  return numbers;
}
