import { Screen } from './Screen.tsx';

export function TasksScreen() {
  return (
    <Screen title="Tasks">
      <p>Tasks arrive with A2A: each with its state, its messages and its artifacts.</p>
      <p className="said">Until then agents deliver over WAKE, and what they deliver is in the inbox.</p>
    </Screen>
  );
}
