/**
 * The metadata of an ONNX file: the key-value pairs that exporters put beside the graph. Only the lengths of
 * the other fields are read, so even a model of gigabytes takes only a few reads. Invariant: reading is bounded.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Number of the `metadata_props` field of a model, and of key and value within each (onnx.proto). */
const PROPERTIES = 14;
const KEY = 1;
const VALUE = 2;
/** Longer key-value pairs are skipped; those of real models are far smaller. */
const MOST_PAIR_BYTES = 256 * 1024;
const MOST_FIELDS = 4096;
const HEAD_BYTES = 20;

/** Wire types of protocol buffers. */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

interface Field {
  readonly number: number;
  /** Start and end of its content. */
  readonly from: number;
  readonly to: number;
}

class NotProtobuf extends Error {}

/** A variable-length number, and its end. */
function varint(bytes: Buffer, at: number): [value: number, end: number] {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return [value, at + index + 1];
  }
  throw new NotProtobuf();
}

/** The field that begins with `head`, at offset `at` of the file. */
function fieldAt(head: Buffer, at: number): Field {
  const [tag, start] = varint(head, 0);
  const number = Math.floor(tag / 8);
  const wire = tag % 8;
  if (wire === WIRE.varint) return { number, from: at + start, to: at + varint(head, start)[1] };
  if (wire === WIRE.fixed64) return { number, from: at + start, to: at + start + 8 };
  if (wire === WIRE.fixed32) return { number, from: at + start, to: at + start + 4 };
  if (wire !== WIRE.bytes) throw new NotProtobuf();
  const [length, from] = varint(head, start);
  return { number, from: at + from, to: at + from + length };
}

/** The fields of a message, which `read` reads in parts. */
function* fieldsOf(size: number, read: (at: number, length: number) => Buffer): Generator<Field> {
  let at = 0;
  for (let count = 0; at < size && count < MOST_FIELDS; count++) {
    const field = fieldAt(read(at, Math.min(HEAD_BYTES, size - at)), at);
    if (field.to > size) throw new NotProtobuf();
    yield field;
    at = field.to;
  }
}

function pairOf(bytes: Buffer): [key: string, value: string] {
  const pair: [string, string] = ['', ''];
  for (const { number, from, to } of fieldsOf(bytes.length, (at, length) =>
    bytes.subarray(at, at + length),
  )) {
    if (number === KEY) pair[0] = bytes.toString('utf8', from, to);
    if (number === VALUE) pair[1] = bytes.toString('utf8', from, to);
  }
  return pair;
}

/** The model's properties; none if the file is no ONNX model. Errors: those of reading a file. */
export function onnxMetadata(path: string): ReadonlyMap<string, string> {
  const file = openSync(path, 'r');
  const read = (at: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, at));
  };
  try {
    const found = new Map<string, string>();
    for (const { number, from, to } of fieldsOf(fstatSync(file).size, read)) {
      if (number === PROPERTIES && to - from <= MOST_PAIR_BYTES) found.set(...pairOf(read(from, to - from)));
    }
    return found;
  } catch (error) {
    if (error instanceof NotProtobuf) return new Map();
    throw error;
  } finally {
    closeSync(file);
  }
}

function encodedVarint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}

const encodedField = (number: number, content: Buffer): Buffer =>
  Buffer.concat([encodedVarint(number * 8 + WIRE.bytes), encodedVarint(content.length), content]);

/** Properties as bytes that may be appended to an ONNX file: fields of a message may come in any order. */
export const onnxProperties = (properties: ReadonlyMap<string, string>): Buffer =>
  Buffer.concat(
    [...properties].map(([key, value]) =>
      encodedField(
        PROPERTIES,
        Buffer.concat([encodedField(KEY, Buffer.from(key)), encodedField(VALUE, Buffer.from(value))]),
      ),
    ),
  );
