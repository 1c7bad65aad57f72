/** Whether a caller asks for `type` by its name and would not rather have plain JSON (RFC 9110, 12.5.1). */
export function asksFor(type: string, accept: string | undefined): boolean {
  const weights = new Map((accept ?? '').toLowerCase().split(',').map(weighed));
  const wanted = weights.get(type) ?? 0;
  const plain = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  return wanted > 0 && wanted >= plain;
}

function weighed(range: string): [type: string, weight: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return [type, weight === undefined ? 1 : Number(weight.slice(2))];
}
