/** Which tools ask. Exactly one of the two lists may be given; with none, all but those that only look. */
export interface ToolFilter {
  /** Only these ask, everything else passes. */
  readonly ask: readonly string[] | null;
  /** These pass as well. */
  readonly pass: readonly string[];
}

export function mustAsk(tool: string, filter: ToolFilter, passes: readonly string[]): boolean {
  if (filter.ask !== null) return filter.ask.some((pattern) => isMatch(pattern, tool));
  return ![...passes, ...filter.pass].some((pattern) => isMatch(pattern, tool));
}

/** `*` stands for any characters; everything else for itself. */
function isMatch(pattern: string, tool: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  if (others.length === 0) return pattern === tool;
  if (!tool.startsWith(first)) return false;
  const last = others.pop() ?? '';
  let at = first.length;
  for (const part of others) {
    const found = tool.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return tool.length - last.length >= at && tool.endsWith(last);
}
