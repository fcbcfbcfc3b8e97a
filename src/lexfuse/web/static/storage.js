// What this browser keeps for its reader: nothing of it is sent anywhere. Where storage is denied, nothing is kept.
const PREFIX = "lexfuse.";

export function kept(name, usual) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? usual;
  } catch {
    return usual;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
