import type { OperationNode } from 'kysely';

/** Which rows a statement can touch: its tables, and the columns that are bound to a parameter. */
export type Reach = {
  tables: ReadonlySet<string>;
  /** Only for a query on one table: every row that it touches has these values. `[column, parameter]` */
  fixed: readonly (readonly [string, string])[];
};

type Node = Record<string, unknown> & { kind: string };

/** `parameter` tells the name of a value that is only known when the statement runs. */
export function reachOf(root: OperationNode, parameter: (value: unknown) => string | null): Reach {
  const tables = new Set<string>();
  collectTables(root, tables);
  const where = (root as unknown as { where?: { where: Node } }).where?.where;
  const fixed = tables.size === 1 && where !== undefined ? equalities(where, parameter) : [];
  return { tables, fixed };
}

function collectTables(value: unknown, tables: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collectTables(item, tables);
  if (!isNode(value)) return;
  if (value.kind === 'TableNode') tables.add(tableName(value));
  else for (const part of Object.values(value)) collectTables(part, tables);
}

function tableName(node: Node): string {
  return (node as unknown as { table: { identifier: { name: string } } }).table.identifier.name;
}

/** Only conditions joined by AND at the top: others do not hold for every row. */
function equalities(node: Node, parameter: (value: unknown) => string | null): [string, string][] {
  if (node.kind === 'ParensNode') return equalities(node.node as Node, parameter);
  if (node.kind === 'AndNode') {
    return [...equalities(node.left as Node, parameter), ...equalities(node.right as Node, parameter)];
  }
  if (node.kind !== 'BinaryOperationNode') return [];
  const { leftOperand, operator, rightOperand } = node as unknown as Record<string, Node>;
  const name = rightOperand?.kind === 'ValueNode' ? parameter(rightOperand.value) : null;
  const column = leftOperand === undefined ? null : columnName(leftOperand);
  return operator?.operator === '=' && column !== null && name !== null ? [[column, name]] : [];
}

function columnName(node: Node): string | null {
  if (node.kind !== 'ReferenceNode') return null;
  return (node as unknown as { column: { column: { name: string } } }).column.column.name;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'kind' in value;
}
