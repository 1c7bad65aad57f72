export function browserPath(): Promise<string | undefined>;
export function installBrowser(): Promise<void>;
