export function noticesOf(files: readonly string[]): string;
