import fc from 'fast-check';

const USUAL_SEED = 20_261_115;

// The same cases in every run, so that nobody's change fails by chance. LANTERNROOM_SEED looks at others.
fc.configureGlobal({ seed: Number(process.env.LANTERNROOM_SEED ?? USUAL_SEED) });
