import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { UsageError } from '../world.ts';

export type Groups = readonly { readonly hooks?: readonly unknown[] }[];

/** The configuration as a value. A file that is not JSON (with comments and trailing commas) is left alone. */
export function readJson(text: string, file: string): unknown {
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error === undefined) return value;
  const line = text.slice(0, error.offset).split('\n').length;
  throw odd(file, `${printParseErrorCode(error.error)} in line ${line}`);
}

/** The entries of an event. A file that is not what its host expects is left alone too. */
export function groupsIn(root: unknown, event: string, file: string): Groups {
  const hooks = memberOf(root, 'hooks', file);
  const groups = hooks === undefined ? undefined : memberOf(hooks, event, file);
  if (groups === undefined) return [];
  if (!Array.isArray(groups)) throw odd(file, `"hooks.${event}" is not a list`);
  for (const group of groups) {
    if (typeof group !== 'object' || group === null || !Array.isArray(group.hooks ?? [])) {
      throw odd(file, `"hooks.${event}" holds something that is no hook`);
    }
  }
  return groups;
}

function memberOf(value: unknown, name: string, file: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw odd(file, 'it is not an object where one is expected');
  }
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

function odd(file: string, what: string): UsageError {
  return new UsageError(`${file} cannot be edited safely (${what}): fix it first. Nothing was changed.`);
}
