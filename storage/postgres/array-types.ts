/**
 * The types of Postgres of which arrays are sent and read: the number of each, and the number of its array type, which are the
 * same in every server since version 9. postgres.js asks for them on each new connection.
 */
export const ARRAY_TYPES: readonly (readonly [type: number, array: number])[] = [
  [16, 1000], // bool
  [17, 1001], // bytea
  [19, 1003], // name
  [20, 1016], // int8
  [21, 1005], // int2
  [23, 1007], // int4
  [25, 1009], // text
  [114, 199], // json
  [700, 1021], // float4
  [701, 1022], // float8
  [1043, 1015], // varchar
  [1082, 1182], // date
  [1114, 1115], // timestamp
  [1184, 1185], // timestamptz
  [1700, 1231], // numeric
  [2950, 2951], // uuid
  [3802, 3807], // jsonb
];
