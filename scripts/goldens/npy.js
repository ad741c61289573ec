// Reading and writing of .npy files (format version 1.0, C order, little endian).
'use strict';
const fs = require('fs');

/// {descr: '|i1', shape: [..], data: Uint8Array of the raw elements}.
function read(file) {
  const bytes = fs.readFileSync(file);
  if (bytes.toString('latin1', 0, 6) !== '\x93NUMPY' || bytes[6] !== 1) {
    throw new Error(`${file}: not a version 1 .npy file`);
  }
  const end = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString('latin1', 10, end);
  const descr = /'descr':\s*'([^']+)'/.exec(header)[1];
  const shape =
      /'shape':\s*\(([^)]*)\)/.exec(header)[1].split(',').filter((s) => s.trim()).map(Number);
  if (/'fortran_order':\s*True/.test(header)) throw new Error(`${file}: Fortran order`);
  return {descr, shape, data: new Uint8Array(bytes.subarray(end))};
}

function write(file, descr, shape, data) {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  let header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  header += ' '.repeat(63 - (10 + header.length) % 64) + '\n';
  const start = Buffer.alloc(10);
  start.write('\x93NUMPY', 0, 'latin1');
  start[6] = 1;
  start.writeUInt16LE(header.length, 8);
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(header, 'latin1'), data]));
}

module.exports = {
  read,
  write
};
