export function sources(dir: string): string[];
