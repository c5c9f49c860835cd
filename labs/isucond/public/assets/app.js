// Shows how many chairs of each nature are well.
const table = document.getElementById("trend");
fetch("/api/trend").then((r) => r.json()).then((natures) => {
  for (const n of natures) {
    const row = table.insertRow();
    row.insertCell().textContent = n.nature;
    row.insertCell().textContent = `${n.well} of ${n.chairs} well`;
  }
});
