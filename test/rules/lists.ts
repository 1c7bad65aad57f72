/** The faults of docs/errors.md: its third-level headings. */
export function faultsIn(markdown: string): string[] {
  return [...markdown.matchAll(/^### +`?([^`\s]+)`? *$/gm)].map(([, fault]) => fault as string);
}

/** The settings of docs/configuration.md: the names in the first column of its tables. */
export function settingsIn(markdown: string): string[] {
  const firstCells = [...markdown.matchAll(/^\|([^|]*)\|/gm)].map(([, cell]) => cell as string);
  return firstCells.flatMap((cell) =>
    [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name as string),
  );
}
