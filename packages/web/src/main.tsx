import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { asking } from './api/questions.ts';
import { keepForOffline } from './live/offline-shell.ts';
import { loadAnewAfterUpgrade } from './live/renewal.ts';
import { wearLast } from './look/wear.ts';
import { router } from './routes.tsx';
import './look/fonts.css';
import './look/tokens.css';
import './look/base.css';
import './look/print.css';

wearLast();
loadAnewAfterUpgrade();
const room = document.getElementById('room');
if (room !== null) {
  createRoot(room).render(
    <StrictMode>
      <QueryClientProvider client={asking}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
if (import.meta.env.PROD) keepForOffline();
