// What the page can do beyond links and forms. Everything works without it: no markup is made here.
import "./searching.js";
import "./explaining.js";
import "./keyboard.js";
import "./copying.js";
import "./theme.js";
import "./judge.js";
import "./saving.js";
import "./suggesting.js";
import "./answering.js";
