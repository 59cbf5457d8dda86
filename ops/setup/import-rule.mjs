/**
 * The import rule, checked: reads every import of every source with a parser of TypeScript (static, type, dynamic,
 * re-exported, `require`, `import('x').Y` in types) and holds it against import-table.mjs.
 */
import fs from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { sources } from './build.mjs';
import { CLOSED, HOMES, ROOMS } from './import-table.mjs';
import { ROOT } from './paths.mjs';
import { lineAt, nodesOf, textOf } from './syntax.mjs';

/** The name of the room that holds a path, or undefined. A room of `*` is named by its real folder. */
export function roomOf(file, rooms = ROOMS) {
  const parts = file.split('/');
  const names = Object.keys(rooms).map((pattern) => {
    const wanted = pattern.split('/');
    if (wanted.at(-1) === '.')
      return parts.length === wanted.length && parts[0] === wanted[0] ? pattern : undefined;
    const fits = parts.length > wanted.length && wanted.every((part, i) => part === '*' || part === parts[i]);
    return fits ? parts.slice(0, wanted.length).join('/') : undefined;
  });
  return names.filter(Boolean).sort((a, b) => b.length - a.length)[0];
}

const ruleOf = (room, rooms) => rooms[room] ?? rooms[`${room.split('/').slice(0, -1).join('/')}/*`];

/** The module that a node of the tree loads, in whatever way; `undefined` if it loads none. */
const NAMED = {
  ImportDeclaration: (node) => node.source,
  ExportNamedDeclaration: (node) => node.source ?? undefined,
  ExportAllDeclaration: (node) => node.source,
  ImportExpression: (node) => node.source,
  TSImportType: (node) => node.source,
  TSExternalModuleReference: (node) => node.expression,
  CallExpression: ({ callee, arguments: [name] }) => (callee.name === 'require' ? name : undefined),
};

/** Every module that a source names, as `{ specifier, line }`; no specifier where it is computed. */
export function importsOf(name, text) {
  const found = [];
  for (const node of nodesOf(name, text)) {
    const named = NAMED[node.type]?.(node);
    if (named) found.push({ specifier: textOf(named), line: lineAt(text, named.start) });
  }
  return found;
}

const BUILTINS = new Set(builtinModules);
const isBuiltin = (specifier) => specifier.startsWith('node:') || BUILTINS.has(specifier);
const packageOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Whether a path without ending lies in an allowed room or is an allowed file. */
const within = (target, allowed) => target === allowed || target.startsWith(`${allowed}/`);

function mayImport(target, room, rule) {
  const targetRoom = roomOf(target, ROOMS);
  if (targetRoom === undefined) return CLOSED.includes(room);
  if (targetRoom === room) return true;
  if (rule.may.some((allowed) => within(target, allowed))) return true;
  return rule.may.includes('*') && !CLOSED.includes(targetRoom);
}

const isAtHome = (name, file) =>
  CLOSED.some((room) => within(file, room)) || within(file, HOMES[name] ?? file);

const withoutEnding = (file) => file.replace(/\.[cm]?[jt]sx?$/, '');

/** Whether a specifier names a file of the checkout. */
const isFile = (specifier) => /^[./]/.test(specifier);

function fileObjection(file, room, rule, specifier) {
  const target = withoutEnding(path.posix.join(path.posix.dirname(file), specifier));
  return mayImport(target, room, rule) ? undefined : `${room} may not import ${target}`;
}

function packageObjection(file, room, rule, specifier) {
  const name = packageOf(specifier);
  const allowed = (rule.packages?.includes(name) ?? true) && isAtHome(name, file);
  return allowed ? undefined : `${room} may not import the package ${name}`;
}

/** Why an import is not allowed, or undefined. */
function objection(file, room, rule, specifier) {
  if (specifier === undefined) {
    const allowed = rule.may.includes('*') || rule.computed?.includes(withoutEnding(file));
    return allowed ? undefined : 'an import with a computed name';
  }
  if (isFile(specifier)) return fileObjection(file, room, rule, specifier);
  if (!isBuiltin(specifier)) return packageObjection(file, room, rule, specifier);
  return (rule.builtins?.includes(specifier) ?? true) ? undefined : `${room} may not import ${specifier}`;
}

/** The violations of one source, `file` being its path from the root with slashes: a line of text each. */
export function violations(file, text) {
  const room = roomOf(file);
  if (room === undefined) return [`${file}: no row of import-table.mjs holds this file`];
  const rule = ruleOf(room, ROOMS);
  return importsOf(file, text).flatMap(({ specifier, line }) => {
    const reason = objection(file, room, rule, specifier);
    return reason ? [`${file}:${line}: ${reason}`] : [];
  });
}

/** The violations of the whole checkout. */
export function checkImports() {
  const folders = new Set(Object.keys(ROOMS).map((room) => room.split('/')[0]));
  return [...folders]
    .flatMap((folder) => sources(folder, /\.[cm]?tsx?$/))
    .flatMap((file) => {
      const name = path.relative(ROOT, file).split(path.sep).join('/');
      return violations(name, fs.readFileSync(file, 'utf8'));
    });
}
