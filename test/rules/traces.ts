// Assembled, so that this file is not a finding itself. A path counts where it begins, not as a part of a longer one;
// `me` and `user` are nobody, for examples.
const MACHINE_PATH = new RegExp(
  String.raw`(?<![\w.~}*-])/(?:${'root'}|${'work'}|(?:home|Users)/(?!(?:me|user)/)[\w.-]+)/[\w.]`,
);
const REGISTRY = new RegExp(
  String.raw`registry\.npm${'js'}|https?://[^\s"'<>)]*registry|^\s*registry\s*=`,
  'im',
);

/** What in a text tells about the machine it was written on. */
export function tracesIn(text: string): string[] {
  return [MACHINE_PATH, REGISTRY].flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
}
