const PATHS = {
  inbox: 'M4 13 6.5 5h11L20 13v6H4zM4 13h4.5l1.5 3h4l1.5-3H20',
  sit: 'M7 4v9h10V4M7 13v7M17 13v7M7 16.5h10',
  history: 'M12 7v5l3.5 2M4.5 12a7.5 7.5 0 1 0 2.4-5.5M4 4v4h4',
  agents:
    'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3.5 19c0-3 2.3-5 5.5-5s5.5 2 5.5 5M16 5.5a3 3 0 0 1 0 5.5M17 14.3c2.1.6 3.5 2.3 3.5 4.7',
  insights: 'M4 19h16M6.5 15l4-5 3.5 3 4.5-7',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
