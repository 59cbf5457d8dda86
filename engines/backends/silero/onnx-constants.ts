/**
 * The constants of an ONNX file, which is a message of protocol buffers: a model that holds a graph. A graph holds tensors and
 * nodes; their attributes hold tensors, too, and further graphs where a node chooses between branches. Everything else in the file
 * is passed over.
 */

/** Numbers of the fields that are read, by the message that has them (onnx.proto). */
const MODEL = { graph: 7 } as const;
const GRAPH = { node: 1, constant: 5 } as const;
const NODE = { attribute: 5 } as const;
const ATTRIBUTE = { tensor: 5, graph: 6 } as const;
const TENSOR = { dimensions: 1, type: 2, name: 8, raw: 9 } as const;
/** Element type of a tensor of 32-bit floats. */
const FLOATS = 1;

/** How a field is encoded, in the low three bits of its tag. */
const WIRE = { varint: 0, eightBytes: 1, counted: 2, fourBytes: 5 } as const;

interface Field {
  readonly number: number;
  /** Of a varint; otherwise 0. */
  readonly value: number;
  /** Of a message, a text or bytes; otherwise empty. */
  readonly content: Buffer;
}

const EMPTY: Buffer = Buffer.alloc(0);

/** The fields of a message, in order. Throws at what is no message. */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    for (let value = 0, scale = 1; at < message.length; scale *= 128) {
      const byte = message[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new Error('not an ONNX file: it ends within a number');
  };
  const counted = (length: number): Buffer => {
    if (at + length > message.length) throw new Error('not an ONNX file: it ends within a field');
    return message.subarray(at, (at += length));
  };
  while (at < message.length) {
    const tag = varint();
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === WIRE.varint) yield { number, value: varint(), content: EMPTY };
    else if (wire === WIRE.counted) yield { number, value: 0, content: counted(varint()) };
    else if (wire === WIRE.fourBytes) counted(4);
    else if (wire === WIRE.eightBytes) counted(8);
    else throw new Error(`not an ONNX file: a field is encoded as ${wire}`);
  }
}

function* messagesIn(message: Buffer, wanted: number): Generator<Buffer> {
  for (const { number, content } of fieldsOf(message)) if (number === wanted) yield content;
}

export interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** Undefined if its elements are no floats, or not stored as bytes. */
function tensorOf(message: Buffer): Tensor | undefined {
  const shape: number[] = [];
  let [name, type] = ['', 0];
  let raw = EMPTY;
  for (const { number, value, content } of fieldsOf(message)) {
    if (number === TENSOR.dimensions) shape.push(value);
    if (number === TENSOR.type) type = value;
    if (number === TENSOR.name) name = content.toString();
    if (number === TENSOR.raw) raw = content;
  }
  if (type !== FLOATS || raw.length === 0) return undefined;
  // A copy, because floats must begin at a multiple of four bytes.
  return { name, shape, values: new Float32Array(new Uint8Array(raw).buffer) };
}

/** A graph by the names of its constants. */
export type Constants = ReadonlyMap<string, Tensor>;

/** What its nodes hold, in the attributes of this number. */
function* heldByNodes(graph: Buffer, wanted: number): Generator<Buffer> {
  for (const node of messagesIn(graph, GRAPH.node))
    for (const attribute of messagesIn(node, NODE.attribute)) yield* messagesIn(attribute, wanted);
}

function* graphsIn(graph: Buffer): Generator<Constants> {
  const tensors = [...messagesIn(graph, GRAPH.constant), ...heldByNodes(graph, ATTRIBUTE.tensor)];
  const floats = tensors.map(tensorOf).filter((tensor) => tensor !== undefined);
  yield new Map(floats.map((tensor) => [tensor.name, tensor]));
  for (const branch of heldByNodes(graph, ATTRIBUTE.graph)) yield* graphsIn(branch);
}

/** The constants that are floats, of each graph of a file and of the branches within. Throws if it is no ONNX file. */
export function* constantsOf(file: Buffer): Generator<Constants> {
  for (const graph of messagesIn(file, MODEL.graph)) yield* graphsIn(graph);
}
