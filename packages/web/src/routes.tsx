import { createRootRoute, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { asking, sessionQuery } from './api/questions.ts';
import { isRefused } from './api/refused.ts';
import { DetailScreen, NothingOpen } from './detail/DetailScreen.tsx';
import { LoginPage } from './entry/LoginPage.tsx';
import { JoinPage, ResetPage, SetupPage } from './entry/TokenPage.tsx';
import { Broken, NoSuchPlace, OnItsWay, Stumbled } from './frame/Broken.tsx';
import { Frame } from './frame/Frame.tsx';
import { fetchedLater } from './frame/fetched-later.tsx';
import { InboxScreen } from './inbox/InboxScreen.tsx';

const root = createRootRoute({ component: Outlet, notFoundComponent: NoSuchPlace, errorComponent: Broken });

const login = createRoute({ getParentRoute: () => root, path: '/login', component: LoginPage });
const setup = createRoute({ getParentRoute: () => root, path: '/setup', component: SetupPage });
const reset = createRoute({ getParentRoute: () => root, path: '/reset', component: ResetPage });
const join = createRoute({ getParentRoute: () => root, path: '/join', component: JoinPage });

/** The pages behind the login. If the server cannot be reached, that is no reason to ask for a password. */
const deskRoute = createRoute({
  getParentRoute: () => root,
  id: 'desk',
  component: Frame,
  beforeLoad: async ({ location }) => {
    try {
      await asking.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!isRefused(error) || error.status !== 401) return;
      throw redirect({
        to: '/login',
        search: (location.href === '/' ? {} : { next: location.href }) as never,
      });
    }
  },
});

const FILTERS = ['q', 'agent', 'type', 'section', 'from', 'to'] as const;

const inbox = createRoute({
  getParentRoute: () => deskRoute,
  id: 'inbox',
  component: InboxScreen,
  validateSearch: (search: Record<string, unknown>) =>
    Object.fromEntries(
      FILTERS.flatMap((name) =>
        typeof search[name] === 'string' && search[name] !== '' ? [[name, search[name]]] : [],
      ),
    ) as Partial<Record<(typeof FILTERS)[number], string>>,
});
const nothing = createRoute({ getParentRoute: () => inbox, path: '/', component: NothingOpen });
const detail = createRoute({ getParentRoute: () => inbox, path: '/d/$id', component: DetailScreen });

const screen = <const P extends string, const N extends string>(
  path: P,
  load: () => Promise<Record<N, ComponentType>>,
  name: N,
) =>
  createRoute({
    getParentRoute: () => deskRoute,
    path,
    component: fetchedLater(async () => (await load())[name]),
  });

/** One thing of a list; another one is another screen (see `screenName`). */
const thing = <const P extends string, const N extends string>(
  path: P,
  load: () => Promise<Record<N, ComponentType>>,
  name: N,
) =>
  createRoute({
    getParentRoute: () => deskRoute,
    path,
    component: fetchedLater(async () => (await load())[name]),
    staticData: { isThing: true },
  });

const others = [
  screen('/sit', () => import('./sit/SitScreen.tsx'), 'SitScreen'),
  screen('/history', () => import('./history/HistoryScreen.tsx'), 'HistoryScreen'),
  screen('/audit', () => import('./audit/AuditScreen.tsx'), 'AuditScreen'),
  screen('/agents', () => import('./agents/AgentsScreen.tsx'), 'AgentsScreen'),
  thing('/agents/$id', () => import('./agents/AgentScreen.tsx'), 'AgentScreen'),
  screen('/tasks', () => import('./tasks/TasksScreen.tsx'), 'TasksScreen'),
  thing('/tasks/$id', () => import('./tasks/TaskScreen.tsx'), 'TaskScreen'),
  screen('/events', () => import('./events/EventsScreen.tsx'), 'EventsScreen'),
  thing('/events/$agent/$event', () => import('./events/EventScreen.tsx'), 'EventScreen'),
  screen('/insights', () => import('./insights/InsightsScreen.tsx'), 'InsightsScreen'),
  screen('/settings', () => import('./settings/SettingsScreen.tsx'), 'SettingsScreen'),
  screen('/settings/$part', () => import('./settings/SettingsScreen.tsx'), 'SettingsScreen'),
] as const;

/** Values in the address stay text: `q=007` is not a number. */
const parseSearch = (text: string) => Object.fromEntries(new URLSearchParams(text));
function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(pairs as [string, string][]).toString();
  return text === '' ? '' : `?${text}`;
}

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    setup,
    join,
    reset,
    deskRoute.addChildren([inbox.addChildren([nothing, detail]), ...others]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: false,
  // On a slow connection: a press without any visible effect would be repeated.
  defaultPendingComponent: OnItsWay,
  defaultPendingMs: 400,
  // Shown in place of the screen that failed: the frame, and what is being written, survive.
  defaultErrorComponent: Stumbled,
  scrollRestoration: true,
  // This element scrolls, not the page: a new screen begins at its top.
  scrollToTopSelectors: ['#main'],
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    isThing?: boolean;
  }
}
