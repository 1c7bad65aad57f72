export const HOOK_HELP = `Usage: lantern hook claude|codex|gemini [options]

Run by a coding agent before each tool call: puts the call before a person and waits. "lantern install" sets it up.
The tool runs only when the person says so. No server, a wrong key, no answer in time, a crash, odd input: it does not.

Options:
  --host-timeout <seconds>  when the host stops waiting for its hook; ours ends before (600; gemini 60)
  --ask <tools>             only these ask, comma-separated, * for any characters; the others pass
  --pass <tools>            these pass too; otherwise every tool asks but those that only look

Ends with 0 the tool may run, 2 it may not and standard error says why.
`;
