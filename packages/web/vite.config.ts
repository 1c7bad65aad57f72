import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressed } from './compress.ts';
import { documentsStyle } from './documents-style.ts';
import { notices } from './notices.ts';

export default defineConfig({
  plugins: [react(), documentsStyle(), notices(), compressed()],
  build: {
    outDir: '../server/public',
    emptyOutDir: true,
    target: 'es2022',
    // The content policy allows no data: fonts or scripts, so nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // A part that is fetched late is then one file: a style sheet that failed once would not be asked for again.
    cssCodeSplit: false,
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/desk': 'http://127.0.0.1:8787', '/wake': 'http://127.0.0.1:8787' } },
});
