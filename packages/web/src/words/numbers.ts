const SMALL = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];

/** Numbers up to twelve in words; counts stop at a thousand. */
export function inWords(count: number): string {
  if (count >= 1000) return 'more than a thousand';
  return SMALL[count] ?? String(count);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${inWords(count)} ${count === 1 ? one : many}`;
}

/** 18 204, with thin spaces that do not break. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** "1 entry", "18 204 entries": a figure with its noun, where words would be too long. */
export function figure(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** 512 bytes, 1.4 kB, 12 MB: precise enough to decide whether to save it. */
export function bytesWords(size: number): string {
  if (size < 1000) return figure(size, 'byte');
  const [unit, name] =
    size < 1_000_000 ? [1000, 'kB'] : size < 1_000_000_000 ? [1_000_000, 'MB'] : [1e9, 'GB'];
  const many = size / Number(unit);
  return `${many < 10 ? many.toFixed(1) : Math.round(many)} ${name}`;
}

/** "one alert, two to read and three asleep" */
export function listed(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
